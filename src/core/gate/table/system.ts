import type { Listed } from "../record.ts";

/** Small programs about the machine, the user and the time; those that touch processes and services. */
export const SYSTEM: Listed[] = [
  { names: "echo", options: "", operands: "text", free: true, harmless: true },
  { names: "yes", options: "", operands: "text", free: true, harmless: true },
  { names: "whereis", options: "-b -m -s -u", operands: "text", like: /^[\w.+-]+$/ },
  { names: "ldd", options: "--version", operands: "none" },
  { names: "true, false, :", options: "", operands: "text", free: true, harmless: true },
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
  { names: "printf", options: "", operands: "text", ordered: true, never: /%(?!%)[-+ #0-9.*'hlLjzt]*n/ },
  {
    names: "uname",
    options: "-a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --kernel-version --machine --operating-system",
    operands: "none",
  },
  { names: "arch, groups, tty, logname, users, locale, getconf", options: "-a -s", operands: "text", like: /^[\w.-]*$/ },
  {
    names: "lscpu, lsblk, lsmem, vmstat, iostat, lsb_release, sw_vers",
    options: "-a -s -c -d -r -i -h -J -l -e -f",
    operands: "none",
  },
  { names: "nvidia-smi", options: "-L", operands: "none" },
  { names: "bc", options: "-l -q -m --mathlib --quiet", operands: "paths" },
  { names: "cal, ncal, factor, expr", options: "-l -q -m", operands: "text", never: /!/, like: /^[\w\s.+*/%()<>=|&:^-]*$/ },
  { names: "tput", options: "", operands: "text", like: /^(?:cols|lines|colors|sgr0|bold|rev|smul|rmul|setaf|setab|\d+)$/ },
  { names: "wait, exit, return, break, continue", options: "-n", operands: "text", like: /^[\w%$!-]*$/ },
  { names: "jobs", options: "-l -p -r -s", operands: "none" },
  { names: "clear", options: "", operands: "none" },
  { names: "pgrep, pidof, pstree", options: "-f -l -a -x -u= -n -o -p -c -s", operands: "text" },
  { names: "kill, killall, pkill, fuser, skill, xkill, renice, disown, gdb, lldb", asks: ["process", "ends, stops or changes processes"] },
  { names: "lsof, ss, netstat, top, htop, pmap, iotop", asks: ["process", "looks at the processes and connections of the machine"] },
  {
    names: "systemctl, service, rc-service, launchctl, initctl, supervisorctl, pm2, forever, loginctl",
    asks: ["service", "looks at or changes services of the machine"],
  },
  { names: "journalctl, dmesg, last, lastlog, who, w, finger", asks: ["service", "reads what the machine logs"] },
  { names: "crontab, at, batch, atq, atrm", asks: ["service", "looks at or changes what runs at a set time"] },
  {
    names:
      "mount, umount, losetup, swapon, swapoff, sysctl, ip, ifconfig, iptables, nft, ufw, route, hostnamectl, timedatectl, localectl, modinfo, lsmod, lspci, lsusb, dmidecode, udevadm",
    asks: ["service", "looks at or changes the machine"],
  },
  {
    names: "pbcopy, pbpaste, xclip, xsel, wl-copy, open, xdg-open, osascript, notify-send, say, wall, write, mesg",
    asks: ["service", "reaches the desk of whoever uses the machine"],
  },
  { names: "screen, tmux, expect, dtach, nohup-run", asks: ["interp", "runs commands in a terminal of its own"] },
  {
    names: "vim, vi, nvim, ex, ed, view, emacs, nano, pico, joe, micro, code, subl",
    asks: ["interp", "is an editor, which runs commands"],
  },
  { names: "man, help", options: "-k -f -w", operands: "text", like: /^[\w.+:-]+$/ },
  { names: "man, info, apropos, whatis, tldr", asks: ["interp", "starts a pager, which runs commands"] },
  { names: "envsubst, gettext, m4", asks: ["env", "puts the environment into text"] },
  { names: "openssl version", options: "-a -v", operands: "none" },
  { names: "openssl rand", options: "-hex -base64", operands: "text", like: /^\d{1,6}$/, single: true },
  {
    names: "openssl dgst, openssl sha256, openssl sha1, openssl md5",
    options: "-sha1 -sha224 -sha256 -sha384 -sha512 -md5 -r -hex -binary",
    operands: "paths",
    single: true,
  },
  {
    names: "openssl x509, openssl req, openssl crl, openssl verify",
    options:
      "-in=path -noout -text -dates -startdate -enddate -subject -issuer -serial -fingerprint -sha256 -purpose -pubkey -modulus -inform= -CAfile=path -verify -checkend=",
    operands: "paths",
    must: "-noout -CAfile",
    single: true,
  },
  {
    names: "openssl, gpg, gpg2, age, ssh-keygen, ssh-add, keytool, certutil, pass, security",
    asks: ["interp", "works with keys, and may load code or reach the network"],
  },
];
