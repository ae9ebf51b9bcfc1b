import type { Listed } from "../record.ts";

/** Package managers of systems, and what manages versions of tools. */
export const PACKAGES: Listed[] = [
  {
    names: "dpkg",
    options: "-l -L -s -S --list --listfiles --status --search",
    operands: "text",
    must: "-l -L -s -S --list --listfiles --status --search",
  },
  { names: "rpm", options: "-qa -qi -ql -qf -q", operands: "text", must: "-qa -qi -ql -qf -q", single: true },
  { names: "pacman", options: "-Q -Qi -Ql -Qs", operands: "text", must: "-Q -Qi -Ql -Qs", single: true },
  {
    names:
      "apt list, apt show, apt-cache show, apt-cache search, apt-cache policy, apt-cache depends, apt-mark showmanual, brew list, apk info, dpkg-query, snap list, flatpak list,",
    options: "--installed --upgradable -a -W -f= -l -s -S -L --names-only --versions",
    operands: "text",
  },
  {
    names:
      "apt, apt-get, aptitude, apt-key, add-apt-repository, apt-mark, apt-cache, apt-file, dpkg, dpkg-reconfigure, debconf-set-selections, dnf, yum, microdnf, rpm, rpmbuild, apk, pacman, yay, paru, makepkg, zypper, emerge, xbps-install, eopkg, pkg, pkg_add, brew, port, snap, flatpak, nix, nix-env, nix-shell, nixos-rebuild, guix, winget, choco, scoop, update-alternatives, alien, softwareupdate, mas, sdk, sdkman, jenv, tfenv, goenv, gvm, rustup-init, ghcup, cs, update-ca-certificates, ldconfig, proto, pkgx, vcpkg, conan, spack, bower, jspm, tsd, typings, pods, carthage, swiftenv",
    asks: ["install", "installs, removes or fetches software"],
  },
];
