import type { Listed } from "../record.ts";

const RSPEC =
  "-f= -e= -t= -c -d -b -n -I=path --format= --example= --tag= --fail-fast[=] --color --no-color --order= --seed= --backtrace --only-failures --next-failure --profile[=] --dry-run --out=out -o=out --name= -v --verbose";

/** Ruby, PHP, Perl and their tools. */
export const LANGUAGES: Listed[] = [
  {
    names: "ruby, perl, php, gem, bundle, composer, rake, rails, lua, R, julia, elixir, swift, kotlin, scala",
    options: "--version -version",
    operands: "none",
    must: "--version -version",
  },
  { names: "ruby, perl, php, lua", options: "-v -V -m", operands: "none", must: "-v -V -m", most: 0 },
  { names: "ruby, php", options: "-c -l -w -wc -cw", operands: "paths", must: "-c -l", most: 1 },
  { names: "rspec, minitest, cucumber, m", options: RSPEC, plain: "-f --format", operands: "names", runs: true },
  {
    names: "rubocop, standardrb, erblint, haml-lint, reek, brakeman, sorbet, srb tc, steep check",
    options:
      "-a -A -f= -D -c=path -l -x -P --autocorrect --auto-correct --autocorrect-all --format= --only= --except= --parallel --fail-level= --display-cop-names --fix --no-color -q --quiet --config=path --lint-all --no-pager",
    operands: "writes",
    runs: true,
  },
  {
    names: "rails test, rails routes, rails stats, rails zeitwerk:check, rails about",
    options: "-v -n= -f -b --fail-fast --verbose -c= -g=",
    operands: "names",
    runs: true,
  },
  {
    names: "bundle list, bundle show, bundle check, bundle info, gem list, gem env, gem which, gem contents",
    options: "--paths --path -a --local -d --all",
    operands: "text",
  },
  {
    names:
      "bundle exec, bundle console, bundle open, bundle config, rails, irb, ruby, perl, php, rackup, puma, sidekiq, phpstan clear-result-cache, artisan, composer exec",
    asks: ["interp", "runs code that the gate does not read"],
  },
  {
    names: "gem, bundle, bundler, rbenv, rvm, cpan, cpanm, pecl, pear, phive, luarocks",
    asks: ["install", "installs or fetches packages"],
  },
  {
    names:
      "phpunit, pest, phpstan, phpstan analyse, phpstan analyze, psalm, phpcs, phpcbf, php-cs-fixer fix, php-cs-fixer check, pint, phpmd, rector process, paratest, infection",
    options:
      "-c=path -v -l= -n --filter= --testsuite= --group= --exclude-group= --stop-on-failure --testdox --colors[=] --coverage-text --coverage-html=dir --coverage-clover=out --log-junit=out --configuration=path --level= --memory-limit= --no-progress --error-format= --standard= --dry-run --diff --allow-risky= --test --fix --parallel --no-cache --show-info= --report= --no-coverage --processes=",
    operands: "writes",
    runs: true,
  },
  {
    names:
      "composer validate, composer show, composer check-platform-reqs, composer licenses, composer depends, composer why, composer status, composer about",
    options:
      "--strict --no-check-publish --no-check-all --no-check-lock --tree --installed --direct -D -t -i --format= --no-interaction -n",
    operands: "text",
  },
  {
    names:
      "composer test, composer lint, composer check, composer analyse, composer analyze, composer stan, composer cs, composer cs-check, composer phpstan, composer phpunit, composer run test, composer run lint, composer run-script test, composer dump-autoload, composer dumpautoload",
    options: "-o -n --no-interaction --optimize --",
    operands: "text",
    runs: true,
    harmless: true,
  },
  { names: "composer run, composer run-script", asks: ["interp", "runs a script of the project"] },
  { names: "composer", asks: ["install", "installs or fetches packages"] },
  { names: "bats", options: "-r -t -p -f= -j= --tap --pretty --filter= --recursive --jobs= --timing", operands: "names", runs: true },
  {
    names: "busted, luacheck, stylua, selene",
    options: "-v -o= --check -q --no-color --std= --globals= --config=path",
    operands: "writes",
    runs: true,
  },
];
