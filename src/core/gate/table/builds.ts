import type { Listed } from "../record.ts";
import { CHECKS } from "./node.ts";

const NOT_A_CHECK: Listed["otherwise"] = ["interp", "is not one of the usual targets that test, check or build"];
/** A target that checks or builds, a file to make, or a plain variable. */
const TARGET = new RegExp(
  `${CHECKS.source}|^(?:help|list|version|[\\w-]+\\/[\\w./-]+|[\\w-]+\\.(?:o|a|so|js|html|pdf|css)|(?:V|VERBOSE|DEBUG|CONFIG|BUILD_TYPE|TARGET|ARCH|JOBS|Q|OPT|TEST|TESTS|FILTER|ARGS_TEST)=[\\w.-]*|[A-Z][A-Z\\d_]*=(?:v?\\d[\\w.-]*|true|false|yes|no|on|off|debug|release|Debug|Release)?)$`,
);
const GRADLE =
  /^:?(?:[\w-]+:)*(?:test|check|build|assemble|classes|testClasses|compile\w*|jar|lint\w*|detekt|ktlintCheck|ktlintFormat|spotlessCheck|spotlessApply|dependencies|tasks|projects|properties|javadoc|jacocoTestReport|assembleDebug|testDebugUnitTest|integrationTest|bootJar|shadowJar|help|checkstyle\w*|pmd\w*|spotbugs\w*|verify\w*)$/;
const MAVEN =
  /^(?:validate|compile|test-compile|test|package|verify|integration-test|process-\w+|checkstyle:check|spotless:(?:check|apply)|pmd:check|spotbugs:check|jacoco:report|dependency:tree|dependency:list|surefire:test|failsafe:integration-test|help:\w+|fmt:(?:check|format)|javadoc:javadoc)$/;

/** Builds, tests and checks by target; what they run is the project's own. */
export const BUILDS: Listed[] = [
  {
    names: "make, gmake, cmake, ninja, cargo, rustc, go, mvn, mvnw, gradle, gradlew, dotnet, bazel, just, ctest, meson",
    options: "--version -version -v -V",
    operands: "none",
    must: "--version -version",
  },
  { names: "cargo, rustc", options: "-V -vV", operands: "none", must: "-V -vV", single: true },
  { names: "mvn, gradle, make", options: "-v -V", operands: "none", must: "-v", single: true },
  {
    names: "make, gmake, make install, make uninstall",
    options: "install uninstall -s -n -j[=] -C=dir -B -k -q --dry-run --just-print --question --recon",
    operands: "text",
    must: "-n --dry-run --just-print --recon",
    like: TARGET,
    writes: true,
  },
  {
    names: "make, gmake, bmake",
    options:
      "-j -j[=] -C=dir -k -B -s -i -w -r -R -f=path --jobs[=] --directory=dir --keep-going --always-make --silent --quiet --no-print-directory --output-sync[=] -O[=] -l= --warn-undefined-variables --trace --file=path --makefile=path",
    when: [["interp", "-f --file --makefile", "runs the targets of another file"]],
    operands: "text",
    digits: true,
    like: TARGET,
    otherwise: NOT_A_CHECK,
    runs: true,
  },
  {
    names: "cmake",
    options:
      "-S=path -B=dir -G= -D= -A= -T= -U= -L -LA -N --build=dir --target= -t= --config= --parallel[=] -j -j[=] -v --verbose --clean-first --preset= --fresh --log-level= -Wdev -Wno-dev --list-presets[=] --warn-uninitialized",
    operands: "names",
    runs: true,
    never:
      /COMPILER|LAUNCHER|TOOLCHAIN|LINKER|MAKE_PROGRAM|COMMAND|PROGRAM|INSTALL|FLAGS|PLUGIN|FETCHCONTENT|PROJECT_\w*INCLUDES?|EXECUTABLE|_PATH=\/|_DIR=\/|^(?:deploy|publish|upload|release|flash|push|run|uninstall)/i,
  },
  {
    names: "ctest",
    options:
      "--test-dir=dir --output-on-failure -V -VV -R= -E= -j= --parallel= -C= -L= -LE= -N --rerun-failed --timeout= --repeat= --verbose --progress --stop-on-failure --preset= -T= --no-tests= -Q --quiet",
    operands: "names",
    runs: true,
    single: true,
    glued: true,
  },
  {
    names: "ninja, samu",
    options: "-C=dir -j= -k= -n -v -l= --verbose --quiet",
    operands: "text",
    like: TARGET,
    otherwise: NOT_A_CHECK,
    runs: true,
  },
  {
    names: "meson setup, meson compile, meson test",
    options: "-C=dir -v -j= --suite= --no-rebuild --print-errorlogs --buildtype= --reconfigure --num-processes= -D=",
    operands: "names",
    runs: true,
  },
  {
    names:
      "bazel build, bazel test, bazel query, bazelisk build, bazelisk test, buck2 build, buck2 test, pants test, pants check, pants lint",
    options:
      "-k -c= --config= --test_output= --keep_going --jobs= --test_filter= --runs_per_test= --verbose_failures --nocache_test_results",
    operands: "text",
    like: /^[-\w/:.@]+$/,
    runs: true,
  },
  {
    names: "just, task, rake, invoke, inv, ant, waf, scons, mage, xmake, nox",
    options: "-l --list --summary -n --dry-run -q -v -T --quiet --verbose -s --silent -P -A -N",
    operands: "text",
    like: TARGET,
    otherwise: NOT_A_CHECK,
    runs: true,
  },
  {
    names:
      "cargo build, cargo b, cargo test, cargo t, cargo check, cargo c, cargo clippy, cargo bench, cargo doc, cargo nextest run, cargo fix, cargo fmt, cargo tarpaulin, cargo llvm-cov, cargo insta test, cargo machete, cargo hack check, cargo miri test",
    options:
      "-p= -q -v -vv -r -j= --release --all --workspace --all-targets --all-features --no-default-features --features= -F= --lib --bins --bin= --tests --test= --examples --example= --benches --bench= --doc --no-run --no-fail-fast --package= --exclude= --target= --profile= --quiet --verbose --locked --offline --frozen --message-format= --check --fix --allow-dirty --allow-staged --no-deps --document-private-items --jobs= --timings --keep-going --manifest-path=path --target-dir=dir --color= --ignored --edition= --emit= --html --lcov --output-path=out",
    operands: "text",
    ordered: false,
    runs: true,
    harmless: true,
  },
  {
    names:
      "cargo tree, cargo metadata, cargo pkgid, cargo locate-project, cargo read-manifest, cargo version, cargo verify-project, rustc --print, rustup show, rustup which",
    options:
      "-p= -e= -i= -d -f= --format= --format-version= --no-deps --depth= --invert= --features= --all-features --workspace --target= --prefix= --manifest-path=path --offline --locked --message-format=",
    operands: "text",
    writes: true,
  },
  { names: "cargo clean", asks: ["delete", "deletes what was built"] },
  { names: "cargo run, cargo r, cargo xtask", asks: ["interp", "builds and runs the project's program"] },
  { names: "cargo new, cargo init, cargo generate-lockfile", asks: ["interp", "makes new projects or locks"] },
  {
    names:
      "cargo publish, cargo login, cargo logout, cargo owner, cargo yank, cargo search, cargo info, cargo audit, cargo outdated, cargo deny",
    asks: ["network", "reaches the crate registry"],
  },
  {
    names:
      "cargo add, cargo install, cargo update, cargo remove, cargo rm, cargo uninstall, cargo fetch, cargo vendor, cargo binstall, cargo upgrade, rustup, cargo",
    asks: ["install", "installs or fetches crates"],
  },
  {
    names: "rustfmt, leptosfmt, taplo fmt, taplo check",
    options: "--check --edition= -q --config-path=dir -l --emit=",
    operands: "writes",
  },
  {
    names: "go build, go test, go vet, go fmt, go list, go doc, go version, go fix",
    options:
      "-v -x -race -cover -count= -run= -bench= -benchmem -benchtime= -short -timeout= -failfast -json -o=out -tags= -ldflags= -gcflags= -trimpath -mod= -coverprofile=out -covermode= -coverpkg= -p= -parallel= -shuffle= -skip= -cpu= -list= -n -a -m -deps -f= -e -test -all -buildvcs= -cpuprofile=out -memprofile=out -compiled -find -src -short -C=dir",
    operands: "names",
    single: true,
    runs: true,
    never: /-fplugin|-B\/|extld|linkmode|@(?:v\d|latest|upgrade|patch|master|main)/,
  },
  { names: "go mod edit", options: "-json -print", operands: "none", must: "-json -print", single: true },
  { names: "go env", options: "-json -changed", operands: "text", like: /^[A-Z]\w*$/ },
  {
    names: "go mod verify, go mod graph, go mod why, go tool cover, go help, go work edit",
    options: "-m -func=path -html=path -o=out -top -json",
    operands: "text",
    single: true,
    // Sums and the cache are brought up to date.
    writes: true,
  },
  {
    names: "go generate, go run, go tool, go work, go clean, go telemetry, go bug",
    asks: ["interp", "runs code or commands that the gate does not read"],
  },
  { names: "go get, go install, go mod, go", asks: ["install", "installs or fetches modules"] },
  { names: "gofmt, goimports, gofumpt, golines", options: "-l -w -d -s -e -r= -local= -m=", operands: "writes" },
  {
    names: "golangci-lint run, golangci-lint, staticcheck, revive, errcheck, gosec, golint, gotestsum",
    options:
      "run --fix --timeout= -v --fast -E= -D= --enable= --disable= --new-from-rev= -c=path --config=path --format= -f= --out-format= -checks= -tests --max-issues-per-linter= --max-same-issues= --",
    operands: "names",
    runs: true,
  },
  {
    names: "mvn, mvnw",
    options:
      "-q -o -B -e -X -T= -pl= -am -amd -f=path -D= -P= -N -fae -ff -fn -ntp -V --quiet --offline --batch-mode --no-transfer-progress --file=path --projects= --also-make --fail-at-end --threads= --errors --define=",
    operands: "text",
    like: MAVEN,
    otherwise: ["interp", "is not one of the usual goals that test, check or build"],
    runs: true,
    never: /exec|argLine|jvm|javaagent|agentpath|maven\.ext|compilerArg|settings/i,
  },
  {
    names: "gradle, gradlew",
    options:
      "-q -i -s -S -x= -a -P= -D= -p=dir -m --offline --info --stacktrace --no-daemon --daemon --parallel --continue --tests= --rerun-tasks --build-cache --no-build-cache --console= --quiet --warning-mode= --dry-run --configuration= --exclude-task= --project-dir=dir --max-workers= --stop --status --debug",
    operands: "text",
    like: GRADLE,
    otherwise: ["interp", "is not one of the usual tasks that test, check or build"],
    runs: true,
    never: /init-script|javaagent|jvmargs|agentpath/i,
  },
  {
    names: "dotnet build, dotnet test, dotnet format, dotnet msbuild, dotnet pack, dotnet publish",
    options:
      "-c= -f= -r= -o=dir -v= -p= --configuration= --framework= --no-restore --no-build --nologo --verbosity= --output=dir --filter= --logger= -l= --collect= --verify-no-changes --results-directory=dir --list-tests --blame --self-contained[=] -t= --settings=path",
    operands: "names",
    runs: true,
    never: /Event|Command|Exec|Targets|Import|Custom/i,
  },
  { names: "dotnet", options: "--info --list-sdks --list-runtimes --version", operands: "none" },
  { names: "dotnet clean", asks: ["delete", "deletes what was built"] },
  { names: "dotnet list, dotnet sln", options: "package --include-transitive list", operands: "names" },
  { names: "dotnet run, dotnet watch, dotnet exec, dotnet new, dotnet ef, dotnet script", asks: ["interp", "runs or makes programs"] },
  {
    names: "dotnet add, dotnet remove, dotnet restore, dotnet tool, dotnet nuget, dotnet workload, nuget, paket, dotnet",
    asks: ["install", "installs or fetches packages"],
  },
];
