#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The whole stack: Linux as host and in VMs, with both modules, and a VM that attacks.
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=linux.sh
. "$(dirname "$0")/linux.sh"

try check-linux-stack "two VMs with Linux on one NVMe"
try check-attacks "attacks of a Linux guest, verdicts beside the model's"
ok
