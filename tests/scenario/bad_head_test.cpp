#include "tests/scenario/bad_scenario.h"

namespace amsp {
namespace {

class BadHead : public testing::TestWithParam<BadScenario> {};

TEST_P(BadHead, IsRefusedWithItsMessage) {
  expect_refused(GetParam());
}

constexpr BadScenario kHeads[] = {
    {"MissingSchema", R"({"schema": null})", "s.json#/schema: is missing"},
    {"NewerSchema", R"({"schema": "amsp.scenario/2"})",
     "s.json#/schema: must be \"amsp.scenario/1\", found \"amsp.scenario/2\""},
    {"OtherSchema", R"({"schema": "amsp.models/1"})",
     "s.json#/schema: must be \"amsp.scenario/1\", found \"amsp.models/1\""},
    {"MissingName", R"({"name": null})", "s.json#/name: is missing"},
    {"EmptyName", R"({"name": ""})", "s.json#/name: must not be empty"},
    {"UnknownPart", R"({"planner": {}})",
     "s.json#/planner: is not a known key; did you mean 'plan'? (allowed: $schema, cluster, "
     "conditions, description, engine, model, name, placement, plan, report, schema, stack, "
     "training)"},
    {"PriceWithoutCurrency", R"({"report": {"price_per_gpu_hour": 2.5}})",
     "s.json#/report/price_per_gpu_hour: must be a price with a currency such as \"2.50USD\", "
     "found 2.5"},
    {"PriceWithSign", R"({"report": {"price_per_gpu_hour": "2.5$"}})",
     "s.json#/report/price_per_gpu_hour: must be a price with a currency such as \"2.50USD\", "
     "found \"2.5$\""},
    {"NegativeBudget", R"({"report": {"token_budget": -1}})",
     "s.json#/report/token_budget: must be a number from 1 to 1e+18, found -1"},
    {"BudgetAsText", R"({"report": {"token_budget": "1e12"}})",
     "s.json#/report/token_budget: must be a number from 1 to 1e+18, found \"1e12\""},
};
INSTANTIATE_TEST_SUITE_P(, BadHead, testing::ValuesIn(kHeads), test_name);

}  // namespace
}  // namespace amsp
