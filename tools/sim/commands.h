#pragma once

namespace amsp {

// The commands of amsp-sim, one file each. All take the program's arguments without the command's
// name (argv[0] stays the program), print to standard output and return the exit code.

/// Where ranks run, also for mpirun and Slurm: `amsp-sim placement SCENARIO`.
int placement_command(int argc, char** argv);

/// A cluster's network: `amsp-sim topology CLUSTER`.
int topology_command(int argc, char** argv);

/// What one training step costs: `amsp-sim [predict] SCENARIO`.
int predict_command(int argc, char** argv);

/// How good predictions are: `amsp-sim fidelity`.
int fidelity_command(int argc, char** argv);

/// What one collective takes, by which algorithm: `amsp-sim collective CLUSTER`.
int collective_command(int argc, char** argv);

}  // namespace amsp
