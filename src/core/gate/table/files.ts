import type { Listed } from "../record.ts";

/** Programs that look at files, and those that make, copy, move and pack them. */
export const FILES: Listed[] = [
  {
    names: "ls, dir",
    options:
      "-a -A -l -h -t -r -R -S -1 -d -F -i -s -n -g -G -o -p -c -u -U -X -v -x -C -m -k -q -Q -b -B -N -f -Z -T= -w= -I= --all --almost-all --human-readable --recursive --reverse --directory --classify[=] --inode --size --block-size= --sort= --time= --time-style= --full-time --group-directories-first --color[=] --format= --ignore= --hide= --si --no-group --numeric-uid-gid --file-type --literal --quote-name --author --escape --width=",
    operands: "names",
    harmless: true,
  },
  { names: "wc", options: "-c -m -l -L -w --bytes --chars --lines --words --max-line-length --total=", operands: "names", harmless: true },
  { names: "stat", options: "-c= -f -t --format= --printf= --file-system --terse", operands: "names", harmless: true },
  {
    names: "file",
    options: "-b -i -k -h -L -n -N -r -s -0 --brief --mime --mime-type --mime-encoding --extension --no-dereference",
    operands: "names",
    harmless: true,
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
  { names: "basename, dirname", options: "-a -z -s= --multiple --suffix= --zero", operands: "text", harmless: true },
  {
    names: "realpath, readlink",
    options:
      "-e -f -m -n -q -s -z -L -P -v --canonicalize --canonicalize-existing --canonicalize-missing --relative-to=path --relative-base=path --no-newline --strip --quiet --logical --physical",
    operands: "names",
    harmless: true,
  },
  { names: "mkdir", options: "-p -v --parents --verbose", operands: "writes", harmless: true },
  { names: "rmdir", options: "-p -v --parents --verbose --ignore-fail-on-non-empty", operands: "writes", harmless: true },
  { names: "touch", options: "-a -c -m -d= -t= -r=path --date= --no-create --reference=path", operands: "writes", harmless: true },
  {
    names: "cp",
    options:
      "-a -r -R -p -f -n -u -v -d -L -P -H -T -i -b -t=dir --archive --recursive --force --no-clobber --update[=] --verbose --preserve[=] --no-preserve= --parents --target-directory=dir --no-target-directory --dereference --no-dereference --backup[=] --reflink[=] --sparse=",
    operands: "to",
    // An option that is the name of a file has no slash in it, and leads nowhere else.
    harmless: true,
  },
  {
    names: "mv",
    options:
      "-f -n -u -v -T -i -b -t=dir --force --no-clobber --update[=] --verbose --target-directory=dir --no-target-directory --backup[=]",
    operands: "moves",
    harmless: true,
  },
  {
    names: "install",
    options: "-d -D -v -p -C -t=dir --directory --verbose --target-directory=dir --preserve-timestamps",
    operands: "to",
    writes: true,
  },
  { names: "ln", options: "-f -n -v -T --force --no-dereference --verbose", operands: "moves" },
  { names: "tee", options: "-a -i -p --append --ignore-interrupts", operands: "writes", harmless: true },
  {
    names: "dd",
    options: "if=path of=out bs= ibs= obs= cbs= count= skip= seek= iseek= oseek= conv= iflag= oflag= status=",
    operands: "none",
    keys: true,
  },
  { names: "truncate", asks: ["delete", "cuts off what is in files"] },
  { names: "fallocate", options: "-l= -o= --length= --offset=", operands: "writes" },
  { names: "mktemp", options: "-d -q -u -t -p=dir --directory --quiet --suffix= --tmpdir", operands: "writes" },
  {
    names: "split, csplit",
    options:
      "-l= -b= -n= -C= -a= -d -x -e -u -z -f=out -k -s --lines= --bytes= --number= --suffix-length= --numeric-suffixes[=]  --elide-empty-files --verbose --prefix=out --digits= --quiet",
    operands: "to",
    writes: true,
  },
  {
    names: "patch",
    options:
      "-p= -N -R -s -f -t -u -i=path -d=dir -b -E -l -F= --dry-run --forward --reverse --strip= --input=path --directory=dir --silent --quiet --batch --force --backup --fuzz= --no-backup-if-mismatch --merge[=] --verbose",
    operands: "writes",
    writes: true,
  },
  {
    names: "tar, bsdtar, gtar",
    options:
      "-c -x -t -z -j -J -v -p -k -m -O -a -h -r -u -A -f=out -C=dir -T=path -X=path --create --extract --get --list --append --update --gzip --bzip2 --xz --zstd --auto-compress --verbose --file=out --directory=dir --exclude= --exclude-from=path --exclude-vcs --files-from=path --strip-components= --wildcards --no-wildcards --keep-old-files --overwrite --no-same-owner --no-same-permissions --same-permissions --preserve-permissions --numeric-owner --owner= --group= --mode= --mtime= --sort= --transform= --to-stdout --dereference --no-recursion --null --totals --remove-files -W -l",
    operands: "paths",
    writes: true,
    // A name before a colon is another machine.
    never: /^[\w@.-]+:/,
    when: [
      ["delete", "--remove-files", "deletes what it has packed"],
      ["unknown", "--transform", "renames what it packs or unpacks, which its option may let run a program"],
    ],
  },
  {
    names: "zip",
    options: "-r -q -j -x= -i= -u -f -9 -1 -0 -y -m -v -@ -d -D -X -e --recurse-paths --quiet --exclude=",
    operands: "writes",
    when: [["delete", "-m -d", "deletes what it has packed, or entries of the archive"]],
  },
  { names: "unzip", options: "-l -v -t -Z -p -q -qq -o -n -j -d=dir -x= -a -u", operands: "paths", writes: true },
  { names: "zipinfo", options: "-1 -2 -s -m -l -v -h -t", operands: "paths" },
  {
    names: "gzip, bzip2, xz, zstd",
    options:
      "-d -k -f -c -v -q -t -l -n -N -r -1 -2 -3 -4 -5 -6 -7 -8 -9 -T= --decompress --keep --force --stdout --verbose --test --list --best --fast",
    operands: "moves",
  },
  { names: "gunzip, bunzip2, unxz, unzstd", options: "-k -f -c -v -q -t -l --keep --force --stdout --test --list", operands: "moves" },
  { names: "zcat, bzcat, xzcat, zstdcat, gzcat, zless, zmore", options: "-f -q", operands: "paths" },
  { names: "zgrep, xzgrep, bzgrep", options: "-i -n -c -l -v -h -H -o -w -E -F -e=", operands: "pattern", brings: "-e" },
  { names: "7z, 7za", asks: ["unknown", "packs or unpacks in a way that the gate does not read"] },
  { names: "rm", asks: ["delete", "deletes"] },
  { names: "unlink, shred, srm, trash, trash-put, rmtrash, del, del-cli, rimraf", asks: ["delete", "deletes"] },
  { names: "chmod, chown, chgrp, setfacl, chattr, umask, chcon, xattr", asks: ["perms", "changes who may do what"] },
  { names: "getfacl, lsattr", options: "-a -d -l", operands: "names" },
  { names: "mkfifo", operands: "writes" },
  { names: "mknod", asks: ["outside", "makes a device"] },
  { names: "sync", options: "", operands: "none" },
  { names: "cpio, ar, rename, rename.ul, mmv", asks: ["unknown", "changes files in a way that the gate does not read"] },
];
