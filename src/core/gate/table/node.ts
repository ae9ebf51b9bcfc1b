import type { Listed } from "../record.ts";

/** Names of scripts and targets that test, check or build, also with more behind a colon or dash: `test:unit`. */
export const CHECKS =
  /^(?!.*(?:deploy|publish|release|push|upload|install|clean|watch|serve|start|migrat|seed|reset|drop|destroy|purge|remove|delete|prod$))(?:run-)?(?:test|tests|unit|e2e|integration|spec|lint|build|compile|check|checks|verify|validate|ci|format|fmt|prettier|eslint|biome|types?|typecheck|type-check|tsc|coverage|cover|cov|bench|benchmark|docs?|typedoc|bundle|generate|gen|codegen|size|analyze|analyse|snapshot|all|dist|debug|style|stylelint|knip|depcheck|smoke|quick|fast|unittests?|mypy|pytest|ruff|clippy|vet|prebuild|pretest|posttest)(?:[:_-][\w.:-]+)?$/;

const SCRIPT_OPTIONS =
  "--if-present -s --silent -w= --workspace= --workspaces --ws -ws --include-workspace-root --prefix=dir --no-color --foreground-scripts -- --parallel -r --recursive";

/** Options of the usual tools that neither load code from elsewhere nor write to places that they are not told of. */
const VITEST =
  "-t= --testNamePattern= --run -r= --root=dir -u --update --coverage[=] --coverage.enabled --reporter= --silent --changed[=] --bail[=] --passWithNoTests --no-coverage --pool= --maxWorkers= --minWorkers= --retry= --project= --dir=dir --logHeapUsage --hideSkippedTests --no-file-parallelism --testTimeout= --typecheck --shard= --no-color --color --outputFile=out -c=path --config=path --exclude=";
const JEST =
  "-t= --testNamePattern= --testPathPattern= --testPathPatterns= --coverage[=] --ci --silent --verbose -i --runInBand -w= --maxWorkers= --bail[=] -b --passWithNoTests --no-coverage --updateSnapshot -u --json --outputFile=out --onlyChanged -o --findRelatedTests --listTests --detectOpenHandles --forceExit --colors --no-cache --selectProjects= --testTimeout= -c=path --config=path --logHeapUsage --shard= --showConfig --runTestsByPath --changedSince= --clearCache";

/** Node's own tools: package managers as far as they stay here, test runners, linters, bundlers. */
export const NODE: Listed[] = [
  {
    names: "node, npm, yarn, pnpm, npx, bun, deno, tsc, eslint, prettier, vitest, jest",
    options: "--version -v -V",
    operands: "none",
    must: "--version -v -V",
  },
  {
    names: "npm test, npm t, npm tst, npm run test, yarn test, pnpm test, pnpm t, bun test",
    options: `${SCRIPT_OPTIONS} ${VITEST} --timeout= --grep= -g= --coverageReporters=`,
    operands: "text",
    harmless: true,
    runs: true,
  },
  { names: "npm run, npm run-script, pnpm run, yarn run", options: "-s --silent --json", operands: "none" },
  {
    names: "npm run, npm run-script",
    options: SCRIPT_OPTIONS,
    operands: "text",
    least: 1,
    like: CHECKS,
    first: true,
    runs: true,
  },
  // Their own options stand before the script; what stands behind it is for the script.
  {
    names: "yarn, pnpm, yarn run, pnpm run, bun run",
    options: SCRIPT_OPTIONS,
    operands: "text",
    ordered: true,
    least: 1,
    like: CHECKS,
    runs: true,
    first: true,
  },
  {
    names:
      "npm run, npm run-script, yarn run, pnpm run, bun run, npm start, npm stop, npm restart, yarn start, pnpm start, yarn dev, pnpm dev, yarn serve, yarn watch, pnpm watch",
    asks: ["interp", "runs a script of the project that is not one of its usual checks"],
  },
  {
    names:
      "npm ls, npm list, npm ll, npm explain, npm why, npm root, npm prefix, npm bin, npm query, pnpm list, pnpm ls, pnpm why, pnpm root, yarn list, yarn why, yarn workspaces list",
    options: "-a -g --all --depth= --json --long --parseable --omit= --include= --prod --dev -P -D -r --recursive --only-projects",
    operands: "text",
  },
  { names: "npm pkg get", options: "--json", operands: "text" },
  {
    names: "npm config get, npm config list, npm config ls, pnpm config get, yarn config get",
    options: "--json -l",
    operands: "text",
    never: /auth|token|password|^\/\//i,
  },
  { names: "npm help, npm help-search, npm completion", operands: "text" },
  { names: "npm pack", options: "--dry-run --json --pack-destination=dir", operands: "none", runs: true },
  {
    names:
      "npm pkg, npm set-script, npm config, npm version, pnpm config, yarn config, npm init, yarn init, pnpm init, pnpm patch, npm shrinkwrap",
    asks: ["interp", "changes what the project's own commands run, or the settings of the package manager"],
  },
  {
    names:
      "npm publish, npm unpublish, npm deprecate, npm dist-tag, npm owner, npm access, npm token, npm login, npm logout, npm adduser, npm whoami, npm profile, npm view, npm info, npm show, npm search, npm outdated, npm audit, npm ping, npm fund, npm star, npm team, npm org, npm hook, npm doctor, npm docs, npm repo, npm bugs, yarn publish, yarn npm, yarn info, yarn audit, yarn outdated, pnpm publish, pnpm audit, pnpm outdated, pnpm view, bun publish",
    asks: ["network", "reaches the package registry"],
  },
  {
    names:
      "npm install, npm i, npm in, npm isntall, npm add, npm ci, npm clean-install, npm install-test, npm it, npm cit, npm update, npm up, npm upgrade, npm uninstall, npm un, npm remove, npm rm, npm r, npm link, npm ln, npm unlink, npm rebuild, npm prune, npm dedupe, npm exec, npm x, npm create, npm cache, npm install-ci-test",
    asks: ["install", "installs, removes or fetches packages"],
  },
  {
    names:
      "yarn install, yarn add, yarn remove, yarn upgrade, yarn up, yarn global, yarn dlx, yarn create, yarn link, yarn unlink, yarn import, yarn dedupe, yarn set, yarn plugin, yarn cache, yarn exec",
    asks: ["install", "installs, removes or fetches packages"],
  },
  {
    names:
      "pnpm install, pnpm i, pnpm add, pnpm remove, pnpm rm, pnpm update, pnpm up, pnpm upgrade, pnpm dlx, pnpm create, pnpm link, pnpm unlink, pnpm import, pnpm fetch, pnpm rebuild, pnpm prune, pnpm store, pnpm env, pnpm setup, pnpm self-update, pnpm deploy, pnpm dedupe, pnpm exec",
    asks: ["install", "installs, removes or fetches packages"],
  },
  {
    names: "bun install, bun add, bun remove, bun update, bun link, bun create, bun x, bun upgrade, bun pm",
    asks: ["install", "installs, removes or fetches packages"],
  },
  {
    names: "npx, bunx, corepack, nvm, fnm, volta, n, asdf, mise, deno install, deno add, deno cache, deno upgrade",
    asks: ["install", "installs or fetches software"],
  },
  { names: "npm, bun", asks: ["interp", "does something that the gate does not know"] },
  { names: "yarn", asks: ["install", "installs packages"] },
  {
    names: "node",
    options:
      "--test --test-name-pattern= --test-only --test-reporter= --test-concurrency= --test-timeout= --test-shard= --experimental-test-coverage --experimental-strip-types --no-warnings --enable-source-maps --trace-warnings --test-skip-pattern= --test-force-exit --max-old-space-size=",
    operands: "names",
    must: "--test",
    plain: "--test-reporter",
    runs: true,
  },
  { names: "node", options: "--check -c", operands: "paths", must: "--check -c", most: 1 },
  {
    names: "node, ts-node, tsx, deno run, deno eval, deno repl, bun, deno task, esno, zx",
    asks: ["interp", "runs code that the gate does not read"],
  },
  {
    names: "deno test, deno check, deno lint, deno fmt, deno bench",
    options: "--check -A -q --quiet --coverage[=] --filter= --parallel --fail-fast --no-check",
    operands: "names",
    runs: true,
  },
  { names: "deno info, deno doc", options: "--json", operands: "paths", asks: ["network", "may fetch modules"] },
  {
    names: "vitest, vitest run, vitest related, vitest list, vitest bench",
    options: `run ${VITEST}`,
    operands: "names",
    plain: "--reporter --pool",
    runs: true,
  },
  // A configuration may stand in the option itself.
  { names: "jest", options: JEST, operands: "names", runs: true, never: /^\{/ },
  {
    names: "mocha, ava, tap, tape, jasmine, karma start, uvu, web-test-runner, wtr",
    options:
      "-g= --grep= -f= -i -b --bail -R= --reporter= --recursive --timeout= -t= --exit -s= --parallel -j= --ui= -u= --match= --serial --verbose -v --tap --single-run --coverage --node-resolve",
    plain: "-R --reporter --ui -u",
    operands: "names",
    runs: true,
  },
  {
    names: "playwright test, cypress run, wdio run",
    options: "--project= -g= --grep= --workers= --reporter= --retries= --headed --list --spec= --browser= --headless -x",
    operands: "names",
    runs: true,
  },
  {
    names: "tsc, vue-tsc, tsgo",
    options:
      "--noEmit -p=path -b --build --project=path --strict --pretty[=] --skipLibCheck --declaration --emitDeclarationOnly --incremental --listFiles --listFilesOnly --showConfig --outDir=dir --target= --module= --moduleResolution= --jsx= --lib= --esModuleInterop --traceResolution --diagnostics --extendedDiagnostics --force --verbose --allowJs --checkJs --explainFiles --noEmitOnError --sourceMap --rootDir=dir",
    operands: "paths",
    runs: true,
  },
  {
    names: "eslint",
    options:
      "--fix --ext= --max-warnings= --quiet --cache --cache-location=out -f= --format= -c=path --config=path --no-error-on-unmatched-pattern --report-unused-disable-directives --rule= --ignore-pattern= --no-ignore --color --no-color -o=out --output-file=out --fix-dry-run --debug --print-config=path --no-eslintrc --stats",
    plain: "-f --format",
    operands: "names",
    inPlace: "--fix",
    runs: true,
  },
  {
    names: "prettier",
    options:
      "-c -w -l -u --check --write --list-different --ignore-unknown --config=path --no-config --loglevel= --log-level= --ignore-path=path --single-quote --tab-width= --print-width= --parser= --no-error-on-unmatched-pattern --cache --no-semi --trailing-comma= --stdin-filepath=",
    operands: "names",
    inPlace: "--write -w",
    runs: true,
  },
  {
    names:
      "biome check, biome lint, biome format, biome ci, oxlint, stylelint, standard, xo, tslint, jshint, remark, markdownlint, markdownlint-cli2, cspell, dprint check, dprint fmt, knip, depcheck, madge, size-limit, publint, attw, oxfmt",
    options:
      "--write --fix --apply --unsafe --check --quiet -c=path --config=path --config-path=dir --max-warnings= --deny-warnings --type-aware --reporter= --changed --staged --no-progress --circular --extensions= --format= -f= --ignore-pattern= --no-errors-on-unmatched --production --strict --colors --verbose",
    operands: "writes",
    runs: true,
  },
  {
    names:
      "vite build, next build, next lint, nuxt build, nuxi build, nuxi typecheck, astro build, astro check, svelte-check, svelte-kit sync, remix build, gatsby build, ng build, ng test, ng lint, vue-cli-service build, vue-cli-service lint, react-scripts build, react-scripts test, rollup, webpack, webpack build, parcel build, esbuild, swc, babel, tsup, unbuild, microbundle, rspack build, rolldown, storybook build, docusaurus build, vuepress build, vitepress build, jekyll build, typedoc, jsdoc, api-extractor run, graphql-codegen, prisma validate, prisma format, sass, postcss, tailwindcss, svgo, turbo build, turbo test, turbo lint, nx test, nx build, nx lint",
    options:
      "-c -c=path --config=path --mode= -m= --outDir=dir --out-dir=dir -o=dir --dist-dir=dir --minify --sourcemap[=] --bundle --format= --platform= --target= -t= --outfile=out --outdir=dir --production --prod --configuration= --filter= --all --projects= --parallel[=] --skip-nx-cache --force --no-cache --dry-run --base= --head= --tsconfig=path --threshold= --fail-on-warnings --fail-on-hints --quiet --verbose --stats --profile --silent --no-lint --dts --clean -i=path -p=path",
    operands: "paths",
    runs: true,
  },
  { names: "rollup, webpack, vite build", options: "-c --config", operands: "none", runs: true },
  {
    names: "turbo run, nx run, nx run-many, nx affected, lerna run, run-s, run-p, npm-run-all",
    options:
      "-t= --target= --targets= --filter= --all --projects= --parallel[=] --skip-nx-cache --no-cache --dry-run --base= --head= --scope= --stream -s -p -c -l",
    operands: "text",
    least: 0,
    like: new RegExp(`${CHECKS.source}|^[\\w@/-]+:(?:test|build|lint|typecheck)$`),
    otherwise: ["interp", "runs a script of the project that is not one of its usual checks"],
    runs: true,
  },
  { names: "concurrently, lint-staged, wireit, eleventy, hugo, prisma generate", asks: ["interp", "runs commands or goes on running"] },
  {
    names:
      "nodemon, ts-node-dev, vite, vite dev, vite preview, next dev, next start, http-server, serve, live-server, json-server, webpack serve, ng serve, storybook dev, react-scripts start",
    asks: ["interp", "starts a program that goes on running"],
  },
  { names: "prisma, drizzle-kit, sequelize, knex, typeorm", asks: ["service", "may change a database"] },
  {
    names:
      "vercel, netlify, firebase, heroku, surge, wrangler, serverless, sls, cdk, eas, expo, railway, flyctl, fly, gh-pages, semantic-release, changeset publish, np, release-it",
    asks: ["network", "reaches a service"],
  },
  { names: "husky, lefthook, pre-commit, simple-git-hooks", asks: ["interp", "changes what runs with every commit, or runs it"] },
];
