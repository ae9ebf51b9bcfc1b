/** Not a program, for keys that also take yes or no: `pager.log=false`, `core.fsmonitor=true` (git's own). */
const PLAIN = /^(?:true|false|yes|no|on|off|\d*)$/i;
const OFF = /^(?:false|no|off|0)$/i;

/**
 * Keys of git's configuration that make git do more than it says, as git writes them (section and name in small
 * letters), and how a sentence about one begins. By the last name wherever it is telling: new drivers, tools and
 * helpers are called the same in every section.
 *
 * Not here: `extensions.*` (the file that `worktreeConfig` brings in is read as well), `http.extraHeader` (it starts and
 * redirects nothing), `remote.*.url` (a clone has one, and it starts nothing) but for `ext::` and the like.
 */
const KEYS: { says: string; key: RegExp; value?: (value: string) => boolean }[] = [
  {
    says: "now runs something",
    key: /\.(?:\w*command|\w*cmd|\w*program|\w*hook|\w*editor|\w*pager|driver|textconv|helper|askpass|gitproxy|clean|smudge|process|external|difffilter|vcs|uploadpack|receivepack|tunnel|httpd|hookspath|templatedir|fsmonitor|smtpserver)$/,
    value: (value) => !PLAIN.test(value),
  },
  { says: "now runs something", key: /^pager\./, value: (value) => !PLAIN.test(value) },
  { says: "now runs something", key: /^(?:browser|man|difftool|mergetool|lfs\.customtransfer)\..*\.path$/s },
  { says: "now runs something", key: /^submodule\..*\.update$/s, value: (value) => value.startsWith("!") },
  { says: "now runs something", key: /^(?:remote|submodule)\..*\.(?:push)?url$/s, value: (value) => /^\w+::/.test(value) },
  // One that starts no shell can still set any key: `-c core.pager=...`.
  { says: "has a new command", key: /^alias\./ },
  { says: "now takes in another file", key: /^include(?:if\..*)?\.path$|^core\.attributesfile$/s },
  { says: "now leads git elsewhere", key: /^url\..*\.(?:push)?insteadof$|^remote\..*\.(?:proxy|pushurl)$|^core\.worktree$/s },
  { says: "now leads git elsewhere", key: /^http\.(?:.*\.)?(?:proxy|sslcainfo|sslcapath|curloptresolve)$/s },
  { says: "now checks less", key: /^http\.(?:.*\.)?sslverify$/s, value: (value) => OFF.test(value) },
  { says: "now allows more", key: /^protocol\.(?:.*\.)?allow$/s, value: (value) => value !== "never" },
];

/** What an entry of git's configuration brings about: `now runs something`. Null for one that only describes. */
export function gitKeyDoes(key: string, value: string): string | null {
  return KEYS.find((one) => one.key.test(key) && (one.value?.(value) ?? true))?.says ?? null;
}
