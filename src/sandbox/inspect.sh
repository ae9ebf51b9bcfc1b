# Lists what later runs by itself in the folder where this starts. Nothing that it finds is run, and links are not
# followed out of it. Prints records; each is fields that end with NUL, and an empty one at its end:
#   R path                                          the folder itself
#   E path, "type mode uid size ctime", ">target"   something there; type X: a folder of ours that is closed to us
#   F path                                          a git folder
#   K path                                          a folder of hooks that a configuration names
#   G path, "=where"                                a .git that is a file, and where it leads
#   C path, "=key\nvalue"...                        a configuration, as git reads it
#   L path, real                                    a link, and the path inside that it leads to
#   H "hash  path"...                               contents
#   Z whole|cut                                     the end, and whether all was seen
# Given: WHAT, an extended regular expression for paths; MOST, how many things; PATIENCE, seconds of work.
exec 2>/dev/null </dev/null
unset "${!GIT_@}"
export LC_ALL=C PATH=/usr/local/bin:/usr/bin:/bin GIT_DIR=/nonexistent GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
cd -P . || exit
root=$PWD seen=whole bytes=0 includes=0
out=(R "$PWD" "") git=() trees=() hooks=() config=() links=() linked=() content=()
declare -A named
# In front of every search: what cannot be opened is said, not tried.
closed=(-ignore_readdir_race -regextype posix-extended -type d \( ! -readable -o ! -executable \)
  -printf 'E\0%p\0X %m %U %s %C@\0>\0\0' -prune -o)
entry='E\0%p\0%y %m %U %s %C@\0>%l\0\0'

# Looks with find, and keeps what it sees. The first word says what a file there is.
list() {
  local as=$1 at found
  shift
  # It says itself that it was not ended: `wait` now and then does not know any more.
  mapfile -d '' -t -n $((5 * MOST)) found < <(ulimit -t "$PATIENCE" && find "$@" && printf 'whole\0')
  if ((${#found[@]} % 5 != 1)) || [[ ${found[-1]} != whole ]]; then seen=cut; fi
  for ((at = 0; at + 4 < ${#found[@]}; at += 5)); do
    # Five plain words.
    # shellcheck disable=SC2086
    keep "$as" "${found[at + 1]}" "${found[at + 3]}" ${found[at + 2]}
  done
}

keep() {
  local as=$1 path=$2 target=$3 type=$4 mode=$5 uid=$6 size=$7 ctime=$8 name=${2##*/} where
  [[ $type != X || $uid == "$UID" ]] || return
  # Nobody's work; mounts and our own reading end somewhere.
  if ((${#path} > 500)); then seen=cut; return; fi
  out+=(E "$path" "$type $mode $uid $size $ctime" "$target" "")
  case $type$name in
    d.git) git+=("$path") trees+=("${path%/*}") ;;
    f.git)
      trees+=("${path%/*}")
      IFS= read -r -d '' -n 4096 where <"$path"
      out+=(G "$path" "=$where" "")
      ;;
    ?HEAD)
      # As git sees it: a folder with these in it is a repository, whatever its name.
      if [[ $path != */.git/HEAD && (-e ${path%/*}/objects || -e ${path%/*}/commondir) ]]; then git+=("${path%/*}"); fi
      ;;
  esac
  if [[ $type == l ]]; then links+=("$path"); fi
  if [[ $type != f ]] || ((size > 262144)); then return; fi
  if [[ $as == config || ($as == git && $name == config*) ]]; then config+=("$path"); fi
  if (((bytes += size) < 33554432)); then content+=("$path"); fi
}

# Sets `real` to the path inside that $2, as seen from the folder $1, leads to.
within() {
  local to=$2
  [[ $to == /* ]] || to=$1/$to
  IFS= read -r -d '' real < <(readlink -zm -- "$to")
  [[ $real == "$root"/* ]] && real=./${real#"$root"/}
}

# Worktrees and submodules keep some of it elsewhere.
common() {
  local folder where
  for folder in "${git[@]}"; do
    [[ -f $folder/commondir ]] || continue
    IFS= read -r -d '' -n 4096 where <"$folder/commondir"
    if within "$folder" "${where%$'\n'}" && [[ -d $real && ! -e $real/HEAD ]]; then git+=("$real"); fi
  done
}

# As seen from any of the work trees: whose hooks these are does not matter.
hook_folders() {
  local name from real places=()
  for name in "${!named[@]}"; do
    for from in "${trees[@]}" "${git[@]}"; do
      if [[ $name == /* ]]; then from="" name=${name#/}; fi
      if [[ -d $from/$name ]]; then places+=("$from/$name"); fi
      if [[ -z $from ]] || ((${#places[@]} > MOST)); then break; fi
    done
  done
  if ((${#places[@]} > MOST)); then seen=cut; fi
  while IFS= read -r -d '' real; do
    if [[ $real == "$root"/* ]]; then
      hooks+=("./${real#"$root"/}")
      out+=(K "./${real#"$root"/}" "")
    fi
  done < <(readlink -zm -- "${places[@]}" | sort -zu)
}

configuration() {
  local at pair pairs
  for ((at = 0; at < ${#config[@]} && at < 100; at++)); do
    mapfile -d '' -t -n 5000 pairs < <(git config --file "${config[at]}" --no-includes --list -z && printf 'whole\0')
    # One that is too long is told by its content alone.
    if ((${#pairs[@]} == 0)) || [[ ${pairs[-1]} != whole ]]; then continue; fi
    unset 'pairs[-1]'
    out+=(C "${config[at]}")
    for pair in "${pairs[@]}"; do out+=("=$pair"); done
    out+=("")
    for pair in "${pairs[@]}"; do
      case ${pair%%$'\n'*} in
        include.path | includeif.*.path)
          if ((includes++ < 20)) && within "${config[at]%/*}" "${pair#*$'\n'}" && [[ -f $real ]]; then
            list config "$real" -maxdepth 0 "${closed[@]}" -printf "$entry"
          fi
          ;;
        core.hookspath) if [[ -n ${pair#*$'\n'} ]]; then named["${pair#*$'\n'}"]=; fi ;;
      esac
    done
  done
}

follow() {
  local at reals
  mapfile -d '' -t reals < <(readlink -zm -- "${links[@]}")
  if ((${#reals[@]} != ${#links[@]})); then seen=cut; return; fi
  for ((at = 0; at < ${#links[@]}; at++)); do
    if [[ ${reals[at]} != "$root"/* || ! -e ${reals[at]} || $root/${links[at]#./} == "${reals[at]}"/* ]]; then continue; fi
    linked+=("./${reals[at]#"$root"/}")
    out+=(L "${links[at]}" "./${reals[at]#"$root"/}" "")
  done
}

list listed . "${closed[@]}" \
  \( -name .git -o -name HEAD -o -regex ".*/($WHAT)" ! -path '*/node_modules/*' ! -path '*/site-packages/*' \) -printf "$entry"
if ((${#git[@]})); then
  common
  for folder in "${git[@]}"; do out+=(F "$folder" ""); done
  list git "${git[@]}" -mindepth 1 -maxdepth 2 "${closed[@]}" \( -name objects -o -name refs -o -name logs \) -prune -o \
    -regex '.*/(hooks|hooks/[^/]*|config|config\.worktree|info|info/attributes|commondir)' ! -name '*.sample' -printf "$entry"
  configuration
  if ((${#named[@]})); then hook_folders; fi
fi
if ((${#hooks[@]})); then list hook "${hooks[@]}" -maxdepth 1 "${closed[@]}" -printf "$entry"; fi
if ((${#links[@]})); then follow; fi
if ((${#linked[@]})); then list linked "${linked[@]}" -maxdepth 3 "${closed[@]}" -printf "$entry"; fi
printf '%s\0' "${out[@]}" H
# Too many names for one command line: then their times tell instead.
if ((${#content[@]})); then sha256sum -z -- "${content[@]}"; fi
printf '%s\0' "" Z "$seen" ""
