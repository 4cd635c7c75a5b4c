# What bash would offer for the last word of a command line.
# usage: bash complete.bash SCRIPT dllm WORD...
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
_dllm
printf '%s\n' "${COMPREPLY[@]}"
