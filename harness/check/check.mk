# SPDX-License-Identifier: GPL-2.0
# How the house is checked. Each step is harness/check/<step>.sh; harness/check/check runs
# them, counts, and ends with 'N passed, N failed, N skipped'.

export B CC JOBS SAN COV LIOV_DIR MODEL_CC KERNEL_CC ORACLE_CC SIM_CC EMU_CC LINK WITH_LIBS UNIT

check: ## all tests: install what is missing, build, test; SAN=1 under ASan and UBSan
	@MAKE='$(MAKE)' harness/check/check

# One step: make check-unit, or make check-unit UNIT=nvme for some of its programs.
check-%: FORCE ## one step of the tests: unit source headers isolation cli scenarios ...
	@MAKE='$(MAKE)' harness/check/check $*

# Reads results for the shell.
$(B)/check/runs: harness/check/runs.c $(B)/flags
	$(call say,CC)mkdir -p $(@D) && $(COMPILE) -o $@ $< -ljansson

check-stack: ## Linux as host and in two VMs with both modules, and a VM that attacks

check-races: ## 1000 schedules of each race in scenarios/races, and bugs that must be found

check-potency: ## each verdict's control: without the component named there is harm

check-nofrontend: ## verdicts stay when the frontend's checks are left out

coverage: ## tests and scenarios under gcov; summary here, lines in build/cov/html
	@$(MAKE) -s COV=1 coverage-report
coverage-report:
	@MAKE='$(MAKE)' harness/check/coverage

.PHONY: check coverage coverage-report
