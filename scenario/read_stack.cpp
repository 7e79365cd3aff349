#include "core/json/json.h"
#include "scenario/readers.h"

namespace amsp {

StackSpec read_stack(ObjectReader& scenario, const std::string& engine) {
  if (!scenario.has("stack")) return usual_stack(engine);
  const Json& value = scenario.value("stack");
  if (value.is_string()) return stack_preset(scenario.choice("stack", stack_names()));
  if (!value.is_object())
    scenario.fail("stack", "must be the name of a stack or an object with switches, found " +
                               describe(value));
  ObjectReader object = scenario.object("stack");
  StackSpec stack = usual_stack(engine);
  if (object.has("preset")) stack = stack_preset(object.choice("preset", stack_names()));
  read_stack_switches(object, stack);
  object.finish();
  return stack;
}

}  // namespace amsp
