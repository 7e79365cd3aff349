set(prefix ${BUILD}/install-test)
file(REMOVE_RECURSE ${prefix})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${prefix}/bin/amsp-sim ${SOURCE}/scenarios/tiny-zero3.json
                OUTPUT_VARIABLE report COMMAND_ERROR_IS_FATAL ANY)
if(NOT report MATCHES "step time")
  message(FATAL_ERROR "the installed amsp-sim printed no prediction:\n${report}")
endif()
execute_process(COMMAND ${prefix}/bin/amsp-plan ${SOURCE}/scenarios/tiny-zero3.json
                OUTPUT_VARIABLE report COMMAND_ERROR_IS_FATAL ANY)
if(NOT report MATCHES "known as")
  message(FATAL_ERROR "the installed amsp-plan printed no ranking:\n${report}")
endif()
execute_process(COMMAND ${prefix}/bin/amsp-profile plan ${SOURCE}/scenarios/tiny-zero3.json
                OUTPUT_VARIABLE report COMMAND_ERROR_IS_FATAL ANY)
if(NOT report MATCHES "GPU-hours")
  message(FATAL_ERROR "the installed amsp-profile printed no costs:\n${report}")
endif()
execute_process(COMMAND ${prefix}/bin/amsp-exec ${SOURCE}/scenarios/host/host-two-ranks.json
                        --virtual-ranks --steps 2 --warm-up 1 --set model.layers=1
                        --trace ${prefix}/traces
                OUTPUT_VARIABLE report COMMAND_ERROR_IS_FATAL ANY)
if(NOT report MATCHES "step time")
  message(FATAL_ERROR "the installed amsp-exec printed no step time:\n${report}")
endif()
execute_process(COMMAND ${prefix}/bin/amsp-trace validate ${prefix}/traces
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
if(NOT EXISTS ${prefix}/share/amsp/scenarios/amsp.scenario.schema.json)
  message(FATAL_ERROR "the scenarios were not installed")
endif()
