# SPDX-License-Identifier: GPL-2.0
# Proofs of kernel/core's checks, and models of its protocols. Included by the Makefile; everything lands below build/.

.PHONY: prove prove-mutants

prove: ## prove the checks' contracts with Frama-C, and the protocols' models with Spin
	@harness/deps proof
	@harness/proof/prove $(B)/proof contracts spin

prove-mutants: ## what harness/proof/mutants makes wrong must not be provable
	@harness/deps proof
	@harness/proof/prove $(B)/proof mutants
