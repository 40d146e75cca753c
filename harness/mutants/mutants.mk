# SPDX-License-Identifier: GPL-2.0
mutants: all unit $(B)/check/runs ## leave out each named check and step: something must differ, or harness/mutants/equivalent says why not
	@harness/mutants/mutants $(MUTANTS)

.PHONY: mutants
