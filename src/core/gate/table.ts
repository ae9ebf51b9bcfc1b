import type { Manner } from "./options.ts";

/**
 * The programs that only read, one record each, with the options that keep them reading. An option that is not
 * listed asks; so leave out whatever writes, runs a program, follows links or reaches the network.
 */
export interface Reader extends Manner {
  /** Program names that share the record; `git log` names a subcommand. */
  names: string;
  /** See `optionTable`. */
  options: string;
  /**
   * `paths` are read and shown, `names` are paths of which only names and sizes are shown, `text` is free,
   * `pattern` is one free text and then paths, `none` takes none.
   */
  operands: "paths" | "names" | "text" | "pattern" | "none";
  /** Options that bring the pattern themselves: every operand is a path then. */
  brings?: string;
  /** At most so many operands: one more would be written to. */
  most?: number;
  /** One of these options must be there. */
  must?: string;
  /** Operands only together with one of these options; without it they would create something. */
  listing?: string;
  /** What every operand must look like. */
  like?: RegExp;
  /** What no argument may contain. */
  never?: RegExp;
  /** What the text before the paths must look like, for a language of which only a part reads. */
  script?: RegExp;
  /** Takes no options: every word is an operand. */
  free?: boolean;
  /** No option does harm, so that a file named like an option cannot do any through `*`. */
  harmless?: boolean;
}

const GREP =
  "-i -n -r -v -l -L -c -o -w -x -E -F -G -P -H -h -s -q -a -b -I -z -Z -T -U -A= -B= -C= -m= -e= -f=path --ignore-case --no-ignore-case --line-number --recursive --invert-match --files-with-matches --files-without-match --count --only-matching --word-regexp --line-regexp --extended-regexp --fixed-strings --basic-regexp --perl-regexp --with-filename --no-filename --no-messages --quiet --silent --text --null --after-context= --before-context= --context= --max-count= --regexp= --file=path --include= --exclude= --exclude-dir= --color[=] --colour[=] --binary-files=";
const SUMS = "-b -t -z --tag --binary --text --zero";

export const READERS: Reader[] = [
  {
    names: "ls dir",
    options:
      "-a -A -l -h -t -r -R -S -1 -d -F -i -s -n -g -G -o -p -c -u -U -X -v -x -C -m -k -q -Q -b -B -N -f -Z -T= -w= -I= --all --almost-all --human-readable --recursive --reverse --directory --classify[=] --inode --size --sort= --time= --time-style= --full-time --group-directories-first --color[=] --format= --ignore= --hide= --si --no-group --numeric-uid-gid --file-type --literal --quote-name --author --escape --width=",
    operands: "names",
    harmless: true,
  },
  {
    names: "cat tac",
    options:
      "-A -b -e -E -n -s -t -T -u -v --show-all --number --number-nonblank --show-ends --show-tabs --show-nonprinting --squeeze-blank",
    operands: "paths",
    harmless: true,
  },
  { names: "head", options: "-n= -c= -q -v -z --lines= --bytes= --quiet --verbose", operands: "paths", digits: true, harmless: true },
  { names: "tail", options: "-n= -c= -q -v -z --lines= --bytes= --quiet --verbose", operands: "paths", digits: true, harmless: true },
  { names: "wc", options: "-c -m -l -L -w --bytes --chars --lines --words --max-line-length --total=", operands: "names", harmless: true },
  {
    names: "nl",
    options: "-b= -d= -f= -h= -i= -l= -n= -p -s= -v= -w= --body-numbering= --number-width= --number-format=",
    operands: "paths",
    harmless: true,
  },
  {
    names: "cut",
    options: "-b= -c= -d= -f= -n -s -z --bytes= --characters= --delimiter= --fields= --only-delimited --output-delimiter= --complement",
    operands: "paths",
    harmless: true,
  },
  { names: "tr", options: "-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1", operands: "text", harmless: true },
  { names: "rev", options: "", operands: "paths", harmless: true },
  {
    names: "fold expand unexpand",
    options: "-a -b -s -i -w= -t= --width= --tabs= --spaces --bytes --initial",
    operands: "paths",
    harmless: true,
  },
  { names: "paste", options: "-d= -s -z --delimiters= --serial", operands: "paths", harmless: true },
  { names: "column", options: "-t -s= -n -x -c= -o= -N= -R= --table --separator= --output-separator=", operands: "paths", harmless: true },
  {
    names: "sort",
    options:
      "-b -d -f -g -h -i -M -n -r -R -V -s -u -z -c -C -m -k= -t= --reverse --unique --numeric-sort --human-numeric-sort --version-sort --general-numeric-sort --ignore-case --ignore-leading-blanks --dictionary-order --month-sort --stable --zero-terminated --check[=] --key= --field-separator= --sort=",
    operands: "paths",
  },
  {
    names: "uniq",
    options: "-c -d -D -u -i -z -f= -s= -w= --count --repeated --unique --ignore-case --skip-fields= --skip-chars= --check-chars=",
    operands: "paths",
    most: 1,
  },
  { names: "comm", options: "-1 -2 -3 -z --check-order --nocheck-order --output-delimiter= --total", operands: "paths", harmless: true },
  {
    names: "diff",
    options:
      "-u -c -b -B -w -i -q -s -y -N -a -E -d -U= -C= -I= -W= --unified[=] --context[=] --brief --side-by-side --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --color[=] --suppress-common-lines --strip-trailing-cr --new-file --no-dereference --report-identical-files --width= --text --minimal",
    operands: "paths",
    harmless: true,
  },
  {
    names: "cmp",
    options: "-b -l -s -n= -i= --print-bytes --verbose --quiet --silent --bytes= --ignore-initial=",
    operands: "paths",
    harmless: true,
  },
  { names: "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum", options: SUMS, operands: "paths", harmless: true },
  { names: "cksum sum", options: "", operands: "paths", harmless: true },
  { names: "base64 base32", options: "-d -i -w= --decode --ignore-garbage --wrap=", operands: "paths", harmless: true },
  {
    names: "od",
    options: "-A= -t= -j= -N= -w[=] -v -a -b -c -d -o -s -x --address-radix= --format= --skip-bytes= --read-bytes=",
    operands: "paths",
    harmless: true,
  },
  { names: "hexdump hd", options: "-b -c -C -d -o -x -v -n= -s= --canonical --length= --skip=", operands: "paths", harmless: true },
  {
    names: "xxd",
    options: "-a -b -c= -e -g= -i -l= -p -ps -s= -u -cols= -len= -seek=",
    operands: "paths",
    most: 1,
    ordered: true,
    single: true,
  },
  // `@file` stands for the words in that file.
  { names: "strings", options: "-a -n= -t= -e= --all --bytes= --radix= --encoding=", operands: "paths", digits: true, never: /^@/ },
  { names: "stat", options: "-c= -f -t --format= --printf= --file-system --terse", operands: "names", harmless: true },
  {
    names: "file",
    options: "-b -i -k -h -L -n -N -r -s -0 --brief --mime --mime-type --mime-encoding --extension --no-dereference",
    operands: "names",
  },
  {
    names: "du",
    options:
      "-a -b -c -d= -h -H -k -m -s -S -x -0 -t= --all --apparent-size --bytes --human-readable --max-depth= --summarize --total --one-file-system --exclude= --si --time[=] --threshold= --block-size=",
    operands: "names",
    harmless: true,
  },
  {
    names: "df",
    options:
      "-a -h -H -i -k -l -T -P -t= -x= --all --human-readable --inodes --local --print-type --portability --total --type= --exclude-type= --output[=] --block-size=",
    operands: "names",
    harmless: true,
  },
  {
    names: "tree",
    options:
      "-a -d -f -i -s -h -p -u -g -D -F -C -n -N -q -v -t -r -L= -I= -P= -J -X --dirsfirst --noreport --gitignore --prune --filelimit= --charset= --du --si --sort= --matchdirs --ignore-case",
    operands: "names",
    apart: true,
  },
  { names: "basename dirname", options: "-a -z -s= --multiple --suffix= --zero", operands: "text", harmless: true },
  {
    names: "realpath readlink",
    options:
      "-e -f -m -n -q -s -z -L -P -v --canonicalize --canonicalize-existing --canonicalize-missing --relative-to=path --relative-base=path --no-newline --strip --quiet --logical --physical",
    operands: "names",
    harmless: true,
  },
  { names: "grep egrep fgrep", options: GREP, operands: "pattern", brings: "-e -f --regexp --file", digits: true, harmless: true },
  {
    names: "rg",
    options:
      "-i -n -N -v -l -c -o -w -x -F -P -S -s -q -a -H -I -h -0 -u -U -A= -B= -C= -m= -e= -f=path -g= -t= -T= -d= -j= -M= -r= -E= --ignore-case --smart-case --case-sensitive --line-number --no-line-number --invert-match --files-with-matches --files-without-match --count --count-matches --only-matching --word-regexp --line-regexp --fixed-strings --pcre2 --multiline --multiline-dotall --quiet --text --with-filename --no-filename --null --unrestricted --hidden --no-ignore --no-ignore-vcs --after-context= --before-context= --context= --max-count= --regexp= --file=path --glob= --iglob= --type= --type-not= --max-depth= --max-columns= --max-filesize= --sort= --sortr= --replace= --heading --no-heading --color= --colors= --vimgrep --json --trim --stats --column --no-messages --no-config --one-file-system --passthru --threads=",
    operands: "pattern",
    brings: "-e -f --regexp --file",
  },
  {
    names: "rg --files",
    options:
      "--files -g= -t= -T= -u -0 --glob= --iglob= --hidden --no-ignore --no-ignore-vcs --type= --type-not= --max-depth= --sort= --sortr= --null --no-messages --no-config",
    operands: "names",
    must: "--files",
  },
  {
    names: "find",
    options:
      "! ( ) , -a -o -and -or -not -name= -iname= -path= -ipath= -wholename= -iwholename= -regex= -iregex= -regextype= -lname= -ilname= -type= -xtype= -size= -empty -perm= -user= -group= -uid= -gid= -links= -inum= -mtime= -mmin= -ctime= -cmin= -atime= -amin= -newer=path -newermt= -samefile=path -maxdepth= -mindepth= -depth -xdev -mount -daystart -readable -writable -executable -nouser -nogroup -prune -quit -true -false -print -print0 -printf= -ls -P",
    operands: "names",
    single: true,
  },
  {
    names: "jq",
    options:
      "-r -c -n -s -S -e -a -j -M -C -R --raw-output --raw-output0 --join-output --compact-output --null-input --slurp --sort-keys --exit-status --ascii-output --monochrome-output --color-output --raw-input --tab --indent=",
    operands: "pattern",
    never: /(?<!\.)\b(?:env|import|include|modulemeta)\b|\$ENV|\$__/,
  },
  {
    names: "sed",
    options: "-n -E -r -s -z -e= --quiet --silent --expression= --regexp-extended",
    operands: "pattern",
    brings: "-e --expression",
    must: "-n --quiet --silent",
    script: /^(?:(?:\d+|\$)(?:,(?:\+?\d+|\$))?[pq];?)+$/,
  },
  { names: "echo", options: "", operands: "text", free: true, harmless: true },
  // `%n` assigns to the variable that its argument names.
  { names: "printf", options: "", operands: "text", ordered: true, never: /%(?!%)[-+ #0-9.*'hlLjzt]*n/ },
  {
    names: "test",
    options: "! ( ) = == != < > -a -o -b -c -d -e -f -g -h -k -p -r -s -u -w -x -G -L -N -O -S -n -z -nt -ot -ef -eq -ne -lt -le -gt -ge",
    operands: "names",
    single: true,
  },
  { names: "true false :", options: "", operands: "text", free: true, harmless: true },
  { names: "pwd", options: "-L -P", operands: "none" },
  { names: "sleep", options: "", operands: "text", like: /^[\d.]+[smhd]?$/ },
  { names: "seq", options: "-w -s= -f= --equal-width --separator= --format=", operands: "text", ordered: true, like: /^[-+\d.eE]+$/ },
  {
    names: "date",
    options: "-u -R -I[=] -d= -r=path --date= --reference=path --utc --universal --iso-8601[=] --rfc-3339= --rfc-email",
    operands: "text",
    like: /^\+/,
  },
  { names: "hostname", options: "-f -s -i -I -d --fqdn --short", operands: "none" },
  { names: "whoami", options: "", operands: "none" },
  { names: "nproc", options: "--all --ignore=", operands: "none" },
  { names: "uptime", options: "-p -s --pretty --since", operands: "none" },
  { names: "free", options: "-b -k -m -g -h -t -w -l --human --mega --giga --total --wide --si", operands: "none" },
  {
    names: "uname",
    options: "-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --kernel-version --machine --operating-system",
    operands: "none",
  },
  { names: "id", options: "-u -g -G -n -r -z --user --group --groups --name", operands: "text", like: /^[\w.-]+$/ },
  // Without a dash `e` shows every process's environment.
  {
    names: "ps",
    options:
      "-A -a -d -e -f -F -l -j -x -w -H -T -L -o= -p= -u= -U= -C= -g= -t= --sort= --no-headers --forest --pid= --ppid= --user= --format=",
    operands: "text",
    like: /^[auxwfjlhT]+$/,
    never: /environ/,
  },
  { names: "which", options: "-a", operands: "text" },
  { names: "type", options: "-a -t -p -P -f", operands: "text" },
  { names: "command", options: "-v -V", operands: "text", must: "-v -V" },
  { names: "printenv", options: "", operands: "text", like: /^[A-Za-z_]\w*$/ },
  // `python -v` and `ruby -v` go on to run what comes in; each program has only its own spelling here.
  { names: "node npm", options: "--version -v", operands: "none", must: "--version -v" },
  { names: "python python3", options: "--version -V", operands: "none", must: "--version -V" },
  { names: "gcc g++ make java ruby perl", options: "--version", operands: "none", must: "--version" },
];
