/** Variables whose whole family says what runs or is loaded; a secret's name in such a family is none of them. */
const FAMILIES = /^(?:LD_|DYLD_|GIT_|BASH|GCONV|GLIBC|PYTHON|PERL|RUBY|NODE_|NPM_CONFIG_|CARGO_|RUSTC|LUA|PHP|JAVA_|SSL_|LC_|XDG_|SSH_)/i;
const SECRET = /(?:TOKEN|PASSWORD|PASSWD|SECRET|KEY|_PAT)$/i;
const SINGLE =
  /^(?:CDPATH|ENV|IFS|SHELL|SHELLOPTS|PS[0-4]|PROMPT_COMMAND|PWD|OLDPWD|TMPDIR|TMP|TEMP|USER|LOGNAME|TERM|LANG|LANGUAGE|CI|VISUAL|LESSOPEN|LESSCLOSE|CC|CXX|AR|MAKE|_)$/i;
const ENDINGS = /(?:PATH|HOME|PAGER|EDITOR|ASKPASS|BROWSER|PROXY|OPTIONS|OPTS?|FLAGS|WRAPPER|PRELOAD|STARTUP)$/i;

/** Whether a variable of this name changes which programs run, what they load, or whom they talk to. */
export function steersPrograms(name: string): boolean {
  return SINGLE.test(name) || ENDINGS.test(name) || (FAMILIES.test(name) && !SECRET.test(name));
}
