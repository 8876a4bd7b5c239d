# SPDX-License-Identifier: GPL-3.0-or-later
# bash completion for potluck
_potluck() {
  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" command="${COMP_WORDS[1]}"
  local options="" files="" words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W "run plan show graph merge list help --help --version" -- "$word")
    return
  fi
  case "$before" in
    -o) files="h5" ;;
    --progress) words="auto line plain none" ;;
    --write) files="*" ;;
    -r|--replications|--threads|--max-time|--checkpoint|--memory|--only|--by|--histogram) return ;;
  esac
  case "$command" in
    run) options="-o -r --replications --resume --force --accept-source --threads --max-time --checkpoint --memory --only --progress --help --version" ;;
    plan) options="-r --replications --threads --memory --help --version" ;;
    show) options="--by --histogram --csv --json --help --version" ;;
    graph) options="-r --write --force --memory --only --help --version" ;;
    merge) options="--force --accept-source --help --version" ;;
    list) options="--help --version" ;;
    help) options="--help --version" ;;
  esac
  if [ -z "$files$words" ]; then
    case "$command" in
      run|plan|graph) files="yaml" ;;
      show|merge) files="h5" ;;
      list) words="models parameters statistics topologies policies laws balancers" ;;
      help) words="run plan show graph merge list" ;;
    esac
    [[ $word == -* ]] && words="$options" files=""
  fi
  if [ -n "$files" ]; then
    mapfile -t COMPREPLY < <(compgen -f -X "!*.$files" -- "$word"; compgen -d -S / -- "$word")
    compopt -o nospace 2> /dev/null
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  fi
}
complete -F _potluck potluck
