import type { Arg } from "./words.ts";

/** What is known of programs that do not only read: why they ask. `npm install` names a subcommand. */
const RISKS: Record<string, { names: string; text: string }> = {
  network: {
    names:
      "curl wget ssh scp sftp rsync nc ncat netcat socat telnet ftp dig nslookup host whois ping traceroute http https gh glab aws gcloud az kubectl helm terraform doctl heroku vercel netlify openssl mail sendmail git:push git:pull git:fetch git:clone git:ls-remote git:submodule git:send-email npm:publish npm:view npm:audit npm:outdated pnpm:publish yarn:publish cargo:publish docker:push docker:pull docker:login twine",
    text: "reaches the network",
  },
  install: {
    names:
      "apt apt-get aptitude dpkg dnf yum rpm apk pacman zypper brew snap flatpak pip pip3 pipx gem bundle composer poetry conda mamba npx bunx npm:install npm:i npm:ci npm:add npm:update npm:uninstall npm:link npm:exec npm:init pnpm:install pnpm:i pnpm:add pnpm:update pnpm:dlx pnpm:link yarn:install yarn:add yarn:dlx yarn:link bun:install bun:add uv:pip uv:add uv:sync cargo:install cargo:add cargo:update go:get go:install go:mod corepack nvm rustup",
    text: "installs or fetches software",
  },
  delete: { names: "rm rmdir unlink shred srm truncate git:clean git:rm trash", text: "deletes" },
  history: {
    names:
      "git:reset git:rebase git:merge git:cherry-pick git:revert git:checkout git:switch git:restore git:commit git:add git:mv git:stash git:tag git:branch git:am git:apply git:filter-branch git:gc git:prune git:reflog git:update-ref git:notes git:init git:bisect git:replace",
    text: "changes the repository",
  },
  write: {
    names:
      "cp mv ln mkdir touch tee dd install patch split csplit mktemp mkfifo tar zip unzip gzip gunzip bzip2 xz zstd 7z ar cpio git:config git:worktree git:remote",
    text: "changes files",
  },
  process: { names: "kill killall pkill fuser systemctl service nohup disown renice gdb lsof", text: "looks at or ends processes" },
  perms: { names: "chmod chown chgrp setfacl chattr umask", text: "changes who may do what" },
  outside: {
    names:
      "docker podman nerdctl crontab at batch psql mysql sqlite3 mongosh mongo redis-cli launchctl journalctl dmesg mount umount sysctl iptables ip ifconfig pbcopy xclip loginctl",
    text: "reaches beyond the workspace",
  },
  builtin: {
    names:
      "eval trap alias unalias . source enable hash complete compgen compopt history fc read readarray mapfile declare typeset local readonly export unset let shopt set exec bind pushd popd dirs ulimit exit return shift getopts wait jobs fg bg suspend logout",
    text: "changes how the shell runs what follows",
  },
  interp: {
    names:
      "bash sh dash zsh ksh ash fish python python2 python3 node deno bun ts-node tsx perl ruby php lua tclsh awk gawk mawk nawk sed yq make gmake cmake ninja just npm pnpm yarn cargo go mvn gradle dotnet java javac gcc g++ cc clang tsc vitest jest pytest tox uv ruff mypy black prettier eslint rake vim vi ed ex emacs nano less more man fd parallel gpg ffmpeg convert pdftotext git:grep git:difftool git:mergetool git:log git:diff git:show git:status",
    text: "runs or writes what the gate does not read",
  },
};

const BY_NAME = new Map<string, { code: string; text: string }>();
for (const [code, { names, text }] of Object.entries(RISKS)) {
  for (const name of names.split(" ")) BY_NAME.set(name.replace(":", " "), { code, text });
}

/** Why a call that is not read-only asks: the part of it to show, a code and the end of a sentence. */
export function riskOf(name: string, args: Arg[]): { shown: string; code: string; text: string } {
  const word = args.find((arg) => !/^[-+]/.test(arg.value));
  const sub = word === undefined ? name : `${name} ${word.value}`;
  const known = BY_NAME.get(sub);
  if (known !== undefined) return { shown: sub, ...known };
  const whole = BY_NAME.get(name) ?? { code: "unknown", text: "is not on the list of programs that only read" };
  const host =
    whole.code === "network" ? args.map((arg) => /^[a-z]+:\/\/([^/\s]+)/.exec(arg.value)?.[1]).find((one) => one !== undefined) : undefined;
  return { shown: name, ...whole, ...(host === undefined ? {} : { text: `${whole.text} (${host})` }) };
}
