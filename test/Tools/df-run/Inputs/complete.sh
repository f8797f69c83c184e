# complete.sh SCRIPT: what the completion of df-run offers for some beginnings.
source "$1"
offer() {
  COMP_WORDS=(df-run "$@")
  COMP_CWORD=$#
  _df_run
  echo "$*: ${COMPREPLY[*]}"
}
offer --so
offer --solver t
offer --transport c
offer --ctas 1
