#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The whole stack: Linux as host and in VMs, with both modules, and a VM that attacks.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=linux.sh
. "$(dirname "$0")/linux.sh"

# Emulated VMs with VMs in them fail now and then (CAVEATS.md).
try check-linux-stack "two VMs with Linux on one NVMe" again
try check-attacks "attacks of a Linux guest, verdicts beside the model's" again
ok
