import { describe, expect, it } from "vitest";
import { gitKeyDoes } from "../../src/core/git-keys.ts";

describe("keys of git's configuration that do more than describe", () => {
  it.each([
    ["core.pager", "less"],
    ["core.editor", "vi"],
    ["core.sshcommand", "ssh -i key"],
    ["core.hookspath", "hk"],
    ["core.fsmonitor", ".git/watch"],
    ["core.gitproxy", "p"],
    ["core.askpass", "p"],
    ["core.alternaterefscommand", "p"],
    ["pager.log", "evil"],
    ["filter.Any Name.clean", "sed"],
    ["filter.lfs.process", "git-lfs filter-process"],
    ["diff.external", "d"],
    ["diff.png.textconv", "exif"],
    ["merge.x.driver", "m %A"],
    ["credential.https://example.com.helper", "!evil"],
    ["gpg.program", "gpg2"],
    ["gpg.ssh.defaultkeycommand", "k"],
    ["sequence.editor", "vi"],
    ["mergetool.x.cmd", "m"],
    ["difftool.x.path", "/tmp/d"],
    ["trailer.sign.cmd", "t"],
    ["interactive.difffilter", "delta"],
    ["remote.origin.uploadpack", "u"],
    ["remote.origin.vcs", "hg"],
    ["remote.origin.url", "ext::sh -c evil"],
    ["submodule.a\nb.update", "!evil"],
    ["uploadpack.packobjectshook", "p"],
    ["init.templatedir", "t"],
    ["tar.tar.xz.command", "xz"],
    ["hook.lint.command", "make lint"],
  ])("%s=%s runs something", (key, value) => {
    expect(gitKeyDoes(key, value)).toBe("now runs something");
  });

  it.each([
    ["alias.st", "status", "has a new command"],
    ["include.path", "../.gitconfig", "now takes in another file"],
    ["includeif.gitdir:/x/.path", "y", "now takes in another file"],
    ["url.https://evil/.insteadof", "https://github.com/", "now leads git elsewhere"],
    ["http.proxy", "http://evil", "now leads git elsewhere"],
    ["http.https://example.com/.proxy", "http://evil", "now leads git elsewhere"],
    ["core.worktree", "/home/me", "now leads git elsewhere"],
    ["http.sslverify", "false", "now checks less"],
    ["protocol.ext.allow", "always", "now allows more"],
  ])("%s=%s: it %s", (key, value, does) => {
    expect(gitKeyDoes(key, value)).toBe(does);
  });

  it.each([
    ["core.bare", "false"],
    ["core.filemode", "true"],
    ["core.fsmonitor", "true"],
    ["core.pager", ""],
    ["pager.log", "false"],
    ["user.name", "command"],
    ["remote.origin.url", "https://github.com/a/b"],
    ["remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"],
    ["branch.command.merge", "refs/heads/main"],
    ["submodule.a.update", "rebase"],
    ["http.sslverify", "true"],
    ["protocol.ext.allow", "never"],
    ["extensions.worktreeconfig", "true"],
    ["filter.lfs.required", "true"],
  ])("%s=%s only describes", (key, value) => {
    expect(gitKeyDoes(key, value)).toBeNull();
  });
});
