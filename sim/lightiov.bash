# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Completion of lightiov(1) for bash. What there is to complete the command itself says, so that it is never out of date.

_lightiov_words()
{
	local word
	COMPREPLY=()
	while IFS= read -r word; do
		[ -n "$word" ] && COMPREPLY+=("$word")
	done < <(compgen -W "$1" -- "$2")
}

# Scenarios and folders; with an argument of 'all', any file.
_lightiov_files()
{
	local path
	COMPREPLY=()
	while IFS= read -r path; do
		if [ -d "$path" ]; then
			COMPREPLY+=("$path/")
		elif [ "$2" = all ] || [[ $path == *.lua ]]; then
			COMPREPLY+=("$path")
		fi
	done < <(compgen -f -- "$1")
	compopt -o nospace 2> /dev/null
	[ "${#COMPREPLY[@]}" -eq 1 ] && [[ ${COMPREPLY[0]} != */ ]] && compopt +o nospace 2> /dev/null
}

_lightiov()
{
	local lightiov=${COMP_WORDS[0]} command=${COMP_WORDS[1]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} help policies

	if [ "$COMP_CWORD" -eq 1 ]; then
		_lightiov_words "$("$lightiov" help 2> /dev/null | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' | sort -u)" "$word"
		return
	fi
	if [ "$command" = help ]; then
		_lightiov_words "$("$lightiov" help 2> /dev/null | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p' | sort -u)" "$word"
		return
	fi
	# bash makes words of "--content" "=" "bytes".
	[ "$word" = "=" ] && word=
	[ "$before" = "=" ] && before=${COMP_WORDS[COMP_CWORD - 2]}
	help=$("$lightiov" help "$command" 2> /dev/null)
	case $before in
	--policy)
		policies=$("$lightiov" help run 2> /dev/null | sed -n 's/.*only under these: \(.*\) (default.*/\1/p' | tr -d ,)
		[ "$command" != serve ] || policies=mediated
		if [[ $word == *,* ]]; then
			# shellcheck disable=SC2086
			policies=$(printf "${word%,*},%s\n" $policies)
		fi
		_lightiov_words "$policies" "$word"
		;;
	--content) _lightiov_words "tags bytes" "$word" ;;
	--junit | --sarif | --html | --perfetto | --expected | --record | --replay | --json | --socket) _lightiov_files "$word" all ;;
	--seed | --jobs | --ios | --variant | --schedules | --schedule | --faults) COMPREPLY=() ;;
	*)
		if [[ $word == -* ]]; then
			_lightiov_words "$({ grep -oE '(^|[^a-z-])--[a-z][a-z-]*' <<< "$help" | grep -oE -e '--.*'; echo --help; } | sort -u)" "$word"
		else
			_lightiov_files "$word" scenarios
		fi
		;;
	esac
}

complete -F _lightiov lightiov
