import type { Listed } from "../record.ts";

const SUMS = "-b -c -t -w -z --check --quiet --status --strict --ignore-missing --warn --tag --binary --text --zero";

/** Programs that show, cut, sort and compare text. */
export const TEXT: Listed[] = [
  {
    names: "cat, tac",
    options:
      "-A -b -e -E -n -s -t -T -u -v --show-all --number --number-nonblank --show-ends --show-tabs --show-nonprinting --squeeze-blank",
    operands: "paths",
    harmless: true,
  },
  { names: "head", options: "-n= -c= -q -v -z --lines= --bytes= --quiet --verbose", operands: "paths", digits: true, harmless: true },
  { names: "tail", options: "-n= -c= -q -v -z --lines= --bytes= --quiet --verbose", operands: "paths", digits: true, harmless: true },
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
    names: "fold, expand, unexpand",
    options: "-a -b -s -i -w= -t= --width= --tabs= --spaces --bytes --initial",
    operands: "paths",
    harmless: true,
  },
  { names: "paste", options: "-d= -s -z --delimiters= --serial", operands: "paths", harmless: true },
  { names: "column", options: "-t -s= -n -x -c= -o= -N= -R= --table --separator= --output-separator=", operands: "paths", harmless: true },
  {
    names: "sort",
    options:
      "-b -d -f -g -h -i -M -n -r -R -V -s -u -z -c -C -m -k= -t= -o=out -S= --output=out --buffer-size= --parallel= --reverse --unique --numeric-sort --human-numeric-sort --version-sort --general-numeric-sort --ignore-case --ignore-leading-blanks --dictionary-order --month-sort --stable --zero-terminated --check[=] --key= --field-separator= --sort=",
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
      "-u -c -b -B -w -i -q -s -y -N -a -E -d -U= -C= -I= -W= --unified[=] --context[=] --brief --side-by-side --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-case --color[=] --suppress-common-lines --strip-trailing-cr -r --recursive --label= --exclude= --new-file --no-dereference --report-identical-files --width= --text --minimal",
    operands: "paths",
    harmless: true,
  },
  {
    names: "cmp",
    options: "-b -l -s -n= -i= --print-bytes --verbose --quiet --silent --bytes= --ignore-initial=",
    operands: "paths",
    harmless: true,
  },
  { names: "md5sum, sha1sum, sha224sum, sha256sum, sha384sum, sha512sum, b2sum", options: SUMS, operands: "paths", harmless: true },
  { names: "cksum, sum", options: "", operands: "paths", harmless: true },
  { names: "base64, base32", options: "-d -i -w= --decode --ignore-garbage --wrap=", operands: "paths", harmless: true },
  {
    names: "od",
    options: "-A= -t= -j= -N= -w[=] -v -a -b -c -d -o -s -x --address-radix= --format= --skip-bytes= --read-bytes=",
    operands: "paths",
    harmless: true,
  },
  { names: "hexdump, hd", options: "-b -c -C -d -o -x -v -n= -s= --canonical --length= --skip=", operands: "paths", harmless: true },
  {
    names: "xxd",
    options: "-a -b -c= -c8 -c16 -c32 -e -g= -g1 -g2 -g4 -g8 -i -l= -p -ps -s= -u -cols= -len= -seek=",
    operands: "paths",
    most: 1,
    ordered: true,
    single: true,
  },
  // `@file` stands for the words in that file.
  { names: "strings", options: "-a -n= -t= -e= --all --bytes= --radix= --encoding=", operands: "paths", digits: true, never: /^@/ },
  { names: "less, more", options: "-N -S -R -F -X -r -i -n -e -E", operands: "paths", never: /^\+/ },
  { names: "shuf", options: "-n= -e -z --head-count= --zero-terminated", operands: "paths" },
  { names: "fmt, pr", options: "-w= --width= -l= -t -h= -m -n", operands: "paths", digits: true },
  { names: "look", options: "-d -f -b -t=", operands: "pattern" },
  { names: "dos2unix, unix2dos", options: "-q -k -f -ascii -iso", operands: "writes", writes: true },
  { names: "dos2unix, unix2dos", options: "-i -ic --info[=]", operands: "paths", must: "-i -ic --info" },
  { names: "join", options: "-t= -1= -2= -a= -v= -e= -o= -i -j= --header --nocheck-order", operands: "paths", harmless: true },
  {
    names: "numfmt",
    options: "--to= --from= --suffix= --field= --header[=] -d= --delimiter= --padding= --format=",
    operands: "text",
    harmless: true,
  },
  { names: "tsort, iconv", options: "-f= -t= -c -l -o=out --from-code= --to-code= --output=out --list", operands: "paths" },
  { names: "diffstat", options: "-p= -w= -s", operands: "paths" },
  { names: "colordiff", options: "-u -r -w", operands: "paths" },
  {
    names: "bat, batcat",
    options: "-n -p -pp -l= -r= --style= --color= --paging= --plain --number --language= --line-range=",
    operands: "paths",
  },
  {
    names: "sed",
    options:
      "-n -E -r -s -z -u -i[=] -e= -f=path --quiet --silent --regexp-extended --separate --null-data --unbuffered --posix --in-place[=] --expression= --file=path --debug --version",
    operands: "pattern",
    brings: "-e -f --expression --file",
    inPlace: "-i --in-place",
    language: "sed",
    when: [["interp", "-f --file", "runs a script that the gate does not read"]],
  },
  {
    names: "awk, gawk, mawk, nawk",
    options: "-F= -v= -f=path --field-separator= --assign= --file=path --posix --csv -O -N",
    operands: "pattern",
    brings: "-f --file",
    language: "awk",
    ordered: true,
    when: [["interp", "-f --file", "runs a program that the gate does not read"]],
  },
];
