import type { Listed } from "../record.ts";

const C =
  "-c -S -E -g -g0 -g1 -g2 -g3 -ggdb -O0 -O1 -O2 -O3 -Os -Og -Oz -Ofast -w -v -pedantic -pedantic-errors -ansi -pipe -pthread -static -shared -fPIC -fpic -fPIE -pie -s -M -MM -MD -MMD -MP -rdynamic -nostdlib -nostdinc -m32 -m64 -march= -mtune= -std= -stdlib= -fsyntax-only -fno-exceptions -fno-rtti -fno-omit-frame-pointer -fno-common -fstack-protector -fstack-protector-strong -fsanitize= -fvisibility= -flto -fopenmp -ffast-math -funroll-loops -fdiagnostics-color -fdiagnostics-color= -fcolor-diagnostics -fmax-errors= --coverage -o=out -I=path -L=path -l= -D= -U= -include=path -isystem=path -iquote=path -MF=out -MT= -MQ= -x= -arch= -framework= -dumpversion -dumpmachine -print-search-dirs --version";

/** Compilers and linters that write what they are told to. Flags that load code or choose programs are not listed. */
export const COMPILERS: Listed[] = [
  {
    names: "gcc, g++, cc, c++, clang, clang++, gcc-12, gcc-13, g++-12, g++-13, tcc, x86_64-w64-mingw32-gcc, arm-none-eabi-gcc",
    options: C,
    operands: "paths",
    writes: true,
    single: true,
    glued: true,
    never: /^@/,
    harmless: true,
  },
  {
    names: "rustc",
    options: "-O -g -o=out --edition= --crate-type= --crate-name= --out-dir=dir --emit= --test --version -V --explain= -A= -W= -D=",
    operands: "paths",
    writes: true,
    // `link=FILE` writes elsewhere.
    plain: "--emit",
  },
  {
    names: "javac",
    options:
      "-d=dir -cp=path -classpath=path -sourcepath=path -g -source= -target= --release -release= -Xlint -Xlint:all -nowarn -encoding= -verbose -parameters -proc:none -version --version",
    operands: "paths",
    single: true,
    writes: true,
    never: /^@/,
    must: "-version --version -proc:none -d -cp -g -classpath -Xlint",
    harmless: true,
  },
  { names: "javac", options: "", operands: "paths", writes: true, never: /^@/, harmless: true },
  { names: "java", options: "-version --version -fullversion", operands: "none", must: "-version --version -fullversion", single: true },
  { names: "java, jshell, groovy, scala, kotlin, clj, clojure", asks: ["interp", "runs code that the gate does not read"] },
  {
    names:
      "kotlinc, scalac, groovyc, swiftc, ghc, ocamlc, ocamlopt, fpc, gfortran, nasm, yasm, nim c, nim check, crystal build, dmd, ldc2, v, odin build, vala, nvcc, emcc, tsgo, solc, flatc, thrift, bison, yacc, flex, lex, swig",
    asks: ["unknown", "compiles with options that the gate does not know"],
  },
  {
    names: "protoc",
    options:
      "-I=path --proto_path=path --cpp_out=dir --java_out=dir --python_out=dir --pyi_out=dir --csharp_out=dir --ruby_out=dir --php_out=dir --objc_out=dir --kotlin_out=dir --descriptor_set_out=out --include_imports",
    operands: "paths",
    writes: true,
    glued: true,
    never: /^@/,
  },
  {
    names: "zig build, zig test, zig fmt, zig build-exe, zig build-lib, zig build-obj",
    options: "--check -Doptimize= --release[=] --summary= -O=",
    operands: "text",
    like: /^(?:test|check|fmt|docs|[\w./-]+\.zig)$/,
    otherwise: ["interp", "is not one of the usual steps that test, check or build"],
    single: true,
    runs: true,
  },
  { names: "elixirc, erlc", options: "-o=dir -v --no-docs", operands: "paths", runs: true },
  {
    names: "sbt test, sbt compile, sbt Test/compile",
    options: "",
    operands: "text",
    like: /^(?:[\w-]+\/)?(?:test|compile|clean|Test\/compile|scalafmtCheck\w*)$/,
    runs: true,
  },
  {
    names: "swift build, swift test",
    options: "-c= -v --configuration= --filter= --parallel --enable-code-coverage",
    operands: "none",
    runs: true,
  },
  {
    names:
      "stack test, stack build, cabal test, cabal build, dune build, dune test, dune runtest, mix test, mix compile, mix format, mix credo, rebar3 eunit, rebar3 ct, rebar3 compile, lein test, flutter test, flutter analyze, dart test, dart analyze, dart format, pod lib lint, xcodebuild test, elm-test, elm make, gleam test, gleam build, gleam format, julia --version, R --version",
    options:
      "-v --verbose --warnings-as-errors --check --check-formatted --set-exit-if-changed --trace --only= --exclude= --coverage --fast",
    operands: "names",
    runs: true,
  },
  {
    names:
      "mix, rebar3, sbt, lein, flutter, dart, pod, stack, cabal, opam, dune, elm, gleam, swift, zig, nim, crystal, julia, R, Rscript, elixir, erl, iex, ghci, runghc, runhaskell, ocaml, sbcl, racket, guile, tclsh, wish, lua, luajit, octave",
    asks: ["interp", "runs or fetches code that the gate does not read"],
  },
  {
    names: "ld, as, strip, objcopy, ranlib, install_name_tool, codesign, patchelf",
    asks: ["unknown", "works on programs in ways that the gate does not know"],
  },
  {
    names: "objdump, readelf, nm, size, addr2line, c++filt, otool",
    options:
      "-a -A -d -D -h -s -S -t -T -x -C -g -n -u -l -r -R -W -e= -f -i -M= -j= --demangle --section= --syms --headers --disassemble --all-headers",
    operands: "paths",
  },
  { names: "clang-format", options: "-i -n --dry-run --Werror --style= -style= --verbose --sort-includes", operands: "writes" },
  {
    names: "clang-tidy, cppcheck, cpplint, iwyu, include-what-you-use",
    options:
      "-p=path --checks= -checks= --quiet --enable= --error-exitcode= --std= --inline-suppr --suppress= -I=path -j= --language= --force --xml",
    operands: "paths",
    runs: true,
  },
  {
    names: "shellcheck",
    harmless: true,
    options:
      "-x -a -s= -f= -e= -i= -o= -S= -P=path -C= -W= -V --shell= --format= --exclude= --include= --severity= --external-sources --check-sourced --enable= --color[=] --wiki-link-count= --norc --version",
    operands: "paths",
  },
  { names: "shfmt", options: "-d -l -w -i= -ci -bn -sr -s -ln= -f -mn -p", operands: "writes" },
  {
    names:
      "hadolint, yamllint, actionlint, jsonlint, sqlfluff lint, sqlfluff fix, ansible-lint, vale, proselint, textlint, codespell, typos, editorconfig-checker, buf lint, buf format, dotenv-linter, xmlstarlet val, tidy, htmlhint",
    options:
      "-s -q -d= -f= -c=path -w -i --strict --format= --config=path --config-file=path --ignore= --no-color --quiet --fix --diff --write-changes -e -o= -S= -L= --skip= --dialect= --errors --verbose",
    operands: "paths",
    runs: true,
  },
  {
    names: "pandoc",
    options:
      "-o=out -f= -t= -s --from= --to= --output=out --standalone --toc --metadata= -M= --wrap= --columns= -N --number-sections --template=path --css=path",
    operands: "paths",
    writes: true,
    never: /\.lua\b|:\/\//,
  },
  { names: "dot, neato", options: "-T= -o=out", operands: "paths", writes: true },
  {
    names:
      "pdflatex, xelatex, latexmk, ffmpeg, convert, magick, identify, gs, pdftotext, exiftool, sox, ImageMagick, inkscape, wkhtmltopdf, soffice",
    asks: ["interp", "reads formats that may run commands or reach files"],
  },
];
