import type { Listed } from "../record.ts";

/** Python and its tools: tests, types, linters, formatters; packages ask. */
export const PYTHON: Listed[] = [
  {
    names: "python, python3, pip, pip3, pytest, uv, poetry, tox, nox, mypy, black, ruff",
    options: "--version -V",
    operands: "none",
    must: "--version -V",
  },
  {
    names: "pytest, py.test",
    options:
      "-q -qq -v -vv -vvv -x -s -l -k= -m= -r= -n= -rA -ra -rs -rx -rf --lf --ff --nf --sw --last-failed --failed-first --stepwise --maxfail= --tb= --durations= --cov[=] --cov-report= --cov-branch --cov-fail-under= --no-cov --no-header --no-summary --color= --collect-only --co --exitfirst --quiet --verbose --verbosity= --disable-warnings --strict-markers --strict-config --ignore= --ignore-glob= --deselect= --timeout= --junitxml=out --junit-xml=out --capture= --showlocals --setup-show --markers --fixtures --asyncio-mode= --benchmark-only --benchmark-skip --doctest-modules --dist= --numprocesses= --log-cli-level= --log-level= --forked --reruns= --snapshot-update --runslow --random-order --cache-clear --cache-show -W= --import-mode=",
    operands: "names",
    runs: true,
    // `html:/srv/x` writes there.
    never: /^\w+:(?:\/|.*\.\.|~)/,
  },
  {
    names: "unittest",
    options: "-v -q -f -b -k= -s=path -p= -t=path discover --verbose --quiet --failfast --buffer",
    operands: "names",
    runs: true,
  },
  {
    names: "unittest discover",
    options: "-v -q -f -b -k= -s=path -p= -t=path --start-directory=path --pattern= --verbose",
    operands: "names",
    runs: true,
  },
  {
    names: "coverage run",
    options: "-m --source= --branch -p -a --append --parallel-mode --omit= --include=",
    operands: "text",
    ordered: true,
    like: /^(?:pytest|unittest)$/,
    otherwise: ["interp", "runs code that the gate does not read"],
    runs: true,
  },
  {
    names: "coverage report, coverage html, coverage xml, coverage json, coverage combine, coverage erase, coverage lcov",
    options: "-m -i -d=dir -o=out --show-missing --skip-covered --skip-empty --fail-under= --omit= --include= --sort= --format= -q",
    operands: "names",
    writes: true,
  },
  {
    names: "mypy, pyright, basedpyright, pyre check, ty check",
    options:
      "-p= -m= --strict --ignore-missing-imports --show-error-codes --no-error-summary --pretty --namespace-packages --explicit-package-bases --check-untyped-defs --disallow-untyped-defs --no-incremental --python-version= --config-file=path --follow-imports= --exclude= --warn-unused-ignores --no-color-output --hide-error-context --warnings --outputjson --level= --stats --files",
    operands: "names",
    runs: true,
  },
  {
    names: "black, isort, autopep8, yapf, autoflake, pyupgrade, docformatter, blue",
    options:
      "-q -v -l= -t= -c -i -r -a --check --check-only --diff --quiet --verbose --line-length= --target-version= --profile= --profile --skip-string-normalization --in-place --recursive --aggressive --exclude= --extend-exclude= --color --fast --preview --config=path --settings-path=path --remove-all-unused-imports --py38-plus --py39-plus --py310-plus",
    operands: "writes",
    writes: true,
  },
  {
    names: "ruff check, ruff format, ruff",
    options:
      "check format --fix --unsafe-fixes --check --diff --select= --ignore= --extend-select= --line-length= --output-format= --quiet -q --no-cache --config=path --exclude= --statistics --show-fixes --exit-zero --preview --target-version= --no-fix --show-files",
    operands: "writes",
    writes: true,
  },
  {
    names: "flake8, pylint, pycodestyle, pydocstyle, bandit, vulture, radon, pyflakes, mccabe, ruff rule",
    options:
      "-r -q -v -ll -s= -j= --count --select= --ignore= --max-line-length= --max-complexity= --statistics --show-source --exclude= --extend-ignore= --config=path --rcfile=path --disable= --enable= --errors-only -E --score= --output-format= --reports= --jobs= --fail-under= -f= --format= --recursive= --min-confidence=",
    operands: "names",
    runs: true,
  },
  { names: "py_compile, compileall, tabnanny", options: "-q -f -l -x=", operands: "writes" },
  { names: "json.tool", options: "--indent= --compact --sort-keys --no-ensure-ascii --tab --json-lines --no-indent", operands: "to" },
  { names: "doctest", options: "-v", operands: "names", runs: true },
  { names: "ast, site, platform", options: "-i -m=", operands: "paths" },
  {
    names: "venv, virtualenv, build, sphinx, sphinx-build, nox, tox, mkdocs build, mkdocs, twine check, pyinstaller, cython",
    asks: ["interp", "makes an environment or a build, which may fetch packages"],
  },
  {
    names:
      "pip list, pip3 list, pip show, pip3 show, pip freeze, pip3 freeze, pip check, pip3 check, pip debug, uv pip list, uv pip freeze, uv pip show, uv pip check, uv tree, poetry show, poetry check, poetry env info, conda list, conda info, pipdeptree",
    options: "-v -f --format= --local --user --not-required --tree --no-dev --files --exclude= -l --json --only= --depth=",
    operands: "text",
  },
  {
    names: "uv run, poetry run, pipenv run, hatch run, pdm run, rye run, hatch test, nox -s",
    asks: ["interp", "runs in the project's environment, which it may bring up to date first"],
  },
  {
    names:
      "pip, pip3, pipx, uv pip, uv add, uv sync, uv remove, uv lock, uv venv, uv tool, uv python, uv init, uv export, uv self, uv cache, uvx, poetry, pipenv, conda, mamba, micromamba, pdm, hatch, rye, easy_install, pyenv, uv",
    asks: ["install", "installs or fetches packages"],
  },
  { names: "uv build, uv publish, twine, flit", asks: ["network", "reaches the package index"] },
  {
    names:
      "http.server, flask, uvicorn, gunicorn, hypercorn, daphne, celery, streamlit, jupyter, ipython, django-admin, alembic, locust, fastapi",
    asks: ["interp", "starts a program that goes on running, or that changes a database"],
  },
  { names: "pre_commit", asks: ["interp", "changes what runs with every commit, or runs it"] },
  { names: "python, python3, python2, pypy, pypy3", asks: ["interp", "runs code that the gate does not read"] },
];
