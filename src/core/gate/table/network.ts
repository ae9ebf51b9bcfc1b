import type { Listed } from "../record.ts";

/** Programs that reach other machines. Their hosts are named from their words; see grants-from.ts. */
export const NETWORK: Listed[] = [
  { names: "curl, wget, ssh, rsync, openssl", options: "--version -V", operands: "none", must: "--version -V" },
  {
    names: "rsync",
    options:
      "-a -r -v -z -n -u -l -p -t -g -o -D -h -P -q -c -H -A -X -x -R -i --archive --recursive --verbose --dry-run --update --progress --checksum --exclude= --include= --exclude-from=path --stats --human-readable --itemize-changes --partial --inplace --ignore-existing --links --copy-links --times --perms --no-perms --no-owner --no-group --size-only --quiet",
    operands: "to",
    like: /^[^:]*$/,
    otherwise: ["network", "copies from or to another machine"],
  },
  { names: "rsync", asks: ["network", "copies from or to other machines, or deletes"] },
  {
    names: "curl, wget, aria2c, axel, http, https, xh, httpie, lynx, links, w3m, elinks, fetch",
    asks: ["network", "sends to or downloads from"],
  },
  { names: "ssh, autossh, mosh, sshpass, ssh-copy-id, ssh-keyscan, telnet, rlogin, rsh", asks: ["network", "works on another machine"] },
  { names: "scp, sftp, ftp, lftp, ncftp, tftp, croc, magic-wormhole, wormhole", asks: ["network", "copies from or to another machine"] },
  {
    names: "nc, ncat, netcat, socat, nmap, masscan, tcpdump, tshark, wireshark, ngrep, mitmproxy, iperf, iperf3, hping3, arp-scan",
    asks: ["network", "opens or watches connections"],
  },
  {
    names: "dig, nslookup, host, drill, whois, getent, resolvectl, ping, ping6, traceroute, tracepath, mtr, arp",
    asks: ["network", "asks other machines"],
  },
  {
    names:
      "gh, glab, hub, tea, jira, linear, sentry-cli, codecov, slack, stripe, twilio, ngrok, cloudflared, tailscale, wg, openvpn, localtunnel, lt, datadog-ci, govulncheck, snyk, sonar-scanner, trivy, grype, syft, cosign, ollama, llm, openai, claude, codex, gemini, aider",
    asks: ["network", "reaches a service"],
  },
  { names: "mail, mailx, sendmail, mutt, msmtp, swaks, irssi, weechat", asks: ["network", "sends mail or messages"] },
  { names: "svn, hg, bzr, cvs, fossil, darcs, jj, git-lfs", asks: ["network", "works with a repository that may be elsewhere"] },
  { names: "youtube-dl, yt-dlp, transmission-cli, ipfs, gsutil-cp", asks: ["network", "downloads"] },
  {
    names: "wrk, ab, hey, vegeta, k6, siege, artillery, newman, grpcurl, websocat, wscat, mosquitto_pub, mosquitto_sub, kcat",
    asks: ["network", "sends to a service"],
  },
];
