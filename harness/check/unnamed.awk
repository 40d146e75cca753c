# SPDX-License-Identifier: GPL-2.0
# A file of kernel/core: its functions that return a status of refusal more than four lines below a named check.
/^[a-z].*\(.*[^;]$/ { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
{ line[FNR] = $0 }
/return .*NVME_SC_/ && !/NVME_SC_(SUCCESS|INTERNAL|DATA_TRANSFER)/ {
	for (i = FNR - 4; i <= FNR; i++)
		if (line[i] ~ /LIOV_CHECK/)
			next
	file = FILENAME
	sub(/.*\//, "", file)
	print file "\t" name
}
