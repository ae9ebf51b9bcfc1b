import type { Listed } from "../record.ts";

const GREP =
  "-i -n -r -v -l -L -c -o -w -x -E -F -G -P -H -h -s -q -a -b -I -z -Z -T -U -A= -B= -C= -m= -e= -f=path --ignore-case --no-ignore-case --line-number --recursive --invert-match --files-with-matches --files-without-match --count --only-matching --word-regexp --line-regexp --extended-regexp --fixed-strings --basic-regexp --perl-regexp --with-filename --no-filename --no-messages --quiet --silent --text --null --after-context= --before-context= --context= --max-count= --regexp= --file=path --include= --exclude= --exclude-dir= --color[=] --colour[=] --binary-files=";

/** Programs that search, and those that read JSON, YAML and the like. */
export const SEARCH: Listed[] = [
  { names: "grep, egrep, fgrep", options: GREP, operands: "pattern", brings: "-e -f --regexp --file", digits: true, harmless: true },
  {
    names: "rg",
    options:
      "-i -n -N -v -l -c -o -w -x -F -P -S -s -q -a -H -I -h -0 -u -U -A= -B= -C= -m= -e= -f=path -g= -t= -T= -d= -j= -M= -r= -E= --ignore-case --smart-case --case-sensitive --line-number --no-line-number --invert-match --files-with-matches --files-without-match --count --count-matches --only-matching --word-regexp --line-regexp --fixed-strings --pcre2 --multiline --multiline-dotall --quiet --text --with-filename --no-filename --null --unrestricted --hidden --no-ignore --no-ignore-vcs --after-context= --before-context= --context= --max-count= --regexp= --file=path --glob= --iglob= --type= --type-not= --max-depth= --max-columns= --max-filesize= --sort= --sortr= --replace= --heading --no-heading --color= --colors= --vimgrep --json --trim --stats --column --no-messages --no-config --one-file-system --passthru --threads=",
    operands: "pattern",
    brings: "-e -f --regexp --file",
  },
  {
    names: "rg",
    options:
      "--files -g= -t= -T= -u -0 --glob= --iglob= --hidden --no-ignore --no-ignore-vcs --type= --type-not= --max-depth= --sort= --sortr= --null --no-messages --no-config",
    operands: "names",
    must: "--files",
  },
  {
    names: "find",
    options:
      "! ( ) , -a -o -and -or -not -name= -iname= -path= -ipath= -wholename= -iwholename= -regex= -iregex= -regextype= -lname= -ilname= -type= -xtype= -size= -empty -perm= -user= -group= -uid= -gid= -links= -inum= -mtime= -mmin= -ctime= -cmin= -atime= -amin= -newer=path -newermt= -samefile=path -maxdepth= -mindepth= -depth -xdev -mount -daystart -readable -writable -executable -nouser -nogroup -prune -quit -true -false -noleaf -warn -nowarn -ignore_readdir_race -print -print0 -delete -fprint= -fprintf== -fls= -fprint0= -printf= -ls -P",
    operands: "names",
    single: true,
  },
  {
    names: "fd, fdfind",
    options:
      "-e= -t= -d= -E= -H -I -u -g -F -a -l -0 -1 -L -i -s -p -S= --extension= --type= --max-depth= --min-depth= --exact-depth= --exclude= --hidden --no-ignore --unrestricted --glob --fixed-strings --absolute-path --list-details --print0 --max-results= --full-path --size= --changed-within= --changed-before= --color= --strip-cwd-prefix",
    operands: "pattern",
  },
  {
    names: "ag, ack",
    options: "-i -l -L -c -n -w -v -Q -A= -B= -C= -g= -G= --nogroup --nocolor --ignore= --hidden --js --ts --py --go",
    operands: "pattern",
  },
  { names: "locate, plocate, mlocate", asks: ["outside", "searches the whole disk"] },
  {
    names: "jq",
    options:
      "-r -c -n -s -S -e -a -j -M -C -R --raw-output --raw-output0 --join-output --compact-output --null-input --slurp --sort-keys --exit-status --ascii-output --monochrome-output --color-output --raw-input --tab --indent= --arg== --argjson== --slurpfile==path --rawfile==path --stream --seq --version -V",
    operands: "pattern",
    never: /(?<![.\w"'$])\b(?:env|import|include|modulemeta|input_filename|get_search_list)\b(?!["'\w]*\s*:)|\$ENV|\$__/,
  },
  {
    names: "yq, yq e, yq eval, yq ea, yq eval-all",
    options:
      "-r -c -e -n -y -Y -i -P -o= -p= -N -M -C -j -I= --raw-output --prettyPrint --output-format= --input-format= --inplace --exit-status --null-input --no-colors --indent= --tojson --no-doc --unwrapScalar[=]",
    operands: "pattern",
    inPlace: "-i --inplace",
    never: /\b(?:env|strenv|envsubst|load|load_str|import|include|eval|system)\b\s*\(?|\$ENV/,
  },
  { names: "xmllint", options: "--format --noout --xpath= --nonet --pretty=", operands: "paths" },
  {
    names: "xsltproc, xq, dasel, gron, mlr, csvcut, csvgrep, csvlook, csvstat, csvsort, csvjson",
    asks: ["unknown", "reads or writes data in a way that the gate does not read"],
  },
  {
    names: "cloc, tokei, scc, sloccount",
    options: "--exclude-dir= --include-lang= --json --quiet --by-file --sort= --exclude= --vcs= --no-cocomo -f= -i= -s= -e= --files",
    operands: "names",
  },
];
