#include "executor/cuda/kernel_ledger.h"

#include <cxxabi.h>

#include <cstdlib>
#include <utility>

#include "core/error.h"

namespace amsp::cuda {

void KernelLedger::open(const void* owner, const std::string& task) {
  const std::lock_guard lock(mutex_);
  open_[std::this_thread::get_id()].push_back({owner, std::make_shared<const std::string>(task)});
}

void KernelLedger::close() {
  const std::lock_guard lock(mutex_);
  const auto mine = open_.find(std::this_thread::get_id());
  AMSP_CHECK(mine != open_.end(), "a thread closes a task of launches that it didn't open");
  mine->second.pop_back();
  if (mine->second.empty()) open_.erase(mine);
}

void KernelLedger::launched(std::uint32_t correlation) {
  const std::lock_guard lock(mutex_);
  auto found = open_.find(std::this_thread::get_id());
  if (found == open_.end() && open_.size() == 1) found = open_.begin();
  if (found == open_.end()) return;
  const OpenTask& task = found->second.back();
  launches_.insert_or_assign(correlation, Launch{task, owners_[task.owner].takes});
}

void KernelLedger::ran(const std::string& name, std::uint32_t correlation, std::int64_t start_ns,
                       std::int64_t end_ns) {
  const std::lock_guard lock(mutex_);
  const auto launch = launches_.find(correlation);
  if (start_ns == 0 || end_ns < start_ns)
    ++lost_;
  else if (launch == launches_.end())
    ++without_task_;
  else
    owners_[launch->second.of.owner].runs.push_back(
        {*launch->second.of.task, readable(name), start_ns, end_ns});
}

void KernelLedger::lost(std::int64_t runs) {
  const std::lock_guard lock(mutex_);
  lost_ += runs;
}

KernelRuns KernelLedger::take(const void* owner) {
  const std::lock_guard lock(mutex_);
  Owner& of = owners_[owner];
  ++of.takes;
  std::erase_if(launches_, [&](const auto& one) {
    return one.second.of.owner == owner && one.second.after_takes + kKeptTakes <= of.takes;
  });
  KernelRuns taken;
  taken.runs = std::exchange(of.runs, {});
  taken.lost = std::exchange(lost_, 0);
  taken.without_task = std::exchange(without_task_, 0);
  return taken;
}

void KernelLedger::forget(const void* owner) {
  const std::lock_guard lock(mutex_);
  owners_.erase(owner);
  std::erase_if(launches_, [&](const auto& one) { return one.second.of.owner == owner; });
}

const std::string& KernelLedger::readable(const std::string& name) {
  const auto [found, is_new] = names_.try_emplace(name);
  if (is_new) found->second = demangled(name);
  return found->second;
}

KernelLedger& kernel_ledger() {
  static auto& ledger = *new KernelLedger;
  return ledger;
}

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // else "i" would become "int"
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

std::string copy_name(int kind) {
  switch (kind) {
    case 1:
      return "memcpy HtoD";
    case 2:
      return "memcpy DtoH";
    case 8:
      return "memcpy DtoD";
    case 9:
      return "memcpy HtoH";
    case 10:
      return "memcpy PtoP";
    default:
      return "memcpy";
  }
}

}  // namespace amsp::cuda
