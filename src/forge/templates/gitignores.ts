/** Patterns of each template, separated by spaces. */
const templates: Readonly<Record<string, string>> = {
  Ada: '*.o *.ali *.bexch b~*.adb b~*.ads obj/ lib/',
  Android:
    '*.apk *.aab *.ap_ *.dex .gradle/ build/ local.properties captures/ .externalNativeBuild/ .cxx/ *.jks *.hprof',
  Ansible: '*.retry .vault_pass',
  Autotools:
    'Makefile.in /ar-lib /autom4te.cache /autoscan.log /compile /config.guess /config.h.in /config.sub /configure /depcomp /install-sh /missing /ltmain.sh /stamp-h1 .deps/ .dirstamp',
  Bazel: '/bazel-* /.ijwb/ /.clwb/',
  C: '*.d *.o *.obj *.elf *.gch *.pch *.lib *.a *.la *.lo *.dll *.so *.so.* *.dylib *.exe *.out *.app *.dSYM/ *.su *.ko *.mod* modules.order Module.symvers',
  'C++': '*.d *.o *.obj *.gch *.pch *.so *.dylib *.dll *.lai *.la *.a *.lib *.exe *.out *.app',
  CMake:
    'CMakeLists.txt.user CMakeCache.txt CMakeFiles/ CMakeScripts/ Testing/ Makefile cmake_install.cmake install_manifest.txt compile_commands.json CTestTestfile.cmake _deps/ CMakeUserPresets.json',
  CUDA: '*.i *.ii *.gpu *.ptx *.cubin *.fatbin',
  Clojure:
    'pom.xml pom.xml.asc *.jar *.class /lib/ /classes/ /target/ /checkouts/ .lein-* .nrepl-port .cpcache/ .clj-kondo/.cache/ .lsp/',
  Composer: 'composer.phar /vendor/',
  Dart: '.dart_tool/ .packages build/ pubspec.lock doc/api/ *.dart.js *.js_ *.js.deps *.js.map .flutter-plugins .flutter-plugins-dependencies',
  Elixir: '/_build/ /cover/ /deps/ /doc/ /.fetch erl_crash.dump *.ez *.beam /config/*.secret.exs .elixir_ls/',
  Elm: 'elm-stuff/ repl-temp-*',
  Emacs: '*~ \\#*\\# .\\#* *.elc auto-save-list tramp .dir-locals-2.el',
  Erlang:
    '.eunit *.o *.beam *.plt erl_crash.dump .concrete/ _build/ deps/ ebin/*.beam rel/ .rebar3/ rebar3.crashdump',
  Fortran: '*.mod *.smod *.o *.obj *.so *.dylib *.dll *.a *.lib *.exe *.out *.app',
  Go: '*.exe *.exe~ *.dll *.so *.dylib *.test *.out coverage.* *.coverprofile go.work go.work.sum .env',
  Gradle:
    '.gradle/ **/build/ !src/**/build/ gradle-app.setting !gradle-wrapper.jar !gradle-wrapper.properties .gradletasknamecache',
  Haskell:
    'dist dist-* cabal-dev *.o *.hi *.hie *.chi *.chs.h *.dyn_o *.dyn_hi .hpc .hsenv .cabal-sandbox/ cabal.sandbox.config *.prof *.aux *.hp *.eventlog .stack-work/ cabal.project.local cabal.project.local~ .ghc.environment.*',
  Java: '*.class *.log *.ctxt .mtj.tmp/ *.jar *.war *.nar *.ear *.zip *.tar.gz *.rar hs_err_pid* replay_pid*',
  Jekyll: '_site/ .sass-cache/ .jekyll-cache/ .jekyll-metadata .bundle/ vendor/',
  JetBrains: '.idea/ *.iws *.iml cmake-build-*/ out/ .idea_modules/ atlassian-ide-plugin.xml',
  Julia:
    '*.jl.cov *.jl.*.cov *.jl.mem deps/deps.jl deps/build.log deps/downloads/ deps/usr/ deps/src/ docs/build/ docs/site/ Manifest.toml',
  Kotlin: '*.class *.log *.jar *.war *.ear .kotlin/ .gradle/ build/ hs_err_pid* replay_pid*',
  Laravel:
    '/vendor/ /node_modules/ npm-debug.log yarn-error.log /bootstrap/compiled.php /public/hot /public/storage /public/build /storage/*.key .env .env.backup .phpunit.result.cache',
  Linux: '*~ .fuse_hidden* .directory .Trash-* .nfs* nohup.out',
  Lua: 'luac.out *.src.rock *.zip *.tar.gz *.o *.os *.ko *.obj *.so *.dll *.dylib *.exe *.out lua_modules/ .luarocks/',
  Maven:
    'target/ pom.xml.tag pom.xml.releaseBackup pom.xml.versionsBackup pom.xml.next release.properties dependency-reduced-pom.xml buildNumber.properties .mvn/timing.properties .mvn/wrapper/maven-wrapper.jar .project .classpath',
  Nim: 'nimcache/ nimblecache/ htmldocs/ *.exe',
  Nix: 'result result-* .direnv/',
  Node: 'logs *.log npm-debug.log* yarn-debug.log* yarn-error.log* pnpm-debug.log* node_modules/ web_modules/ *.tsbuildinfo .npm .eslintcache .stylelintcache .node_repl_history *.tgz .yarn-integrity .env .env.* !.env.example .cache dist coverage *.lcov .nyc_output lib-cov pids *.pid *.seed *.pid.lock .vite/',
  OCaml:
    '*.annot *.cmo *.cma *.cmi *.a *.o *.cmx *.cmxs *.cmxa .merlin _build/ *.byte *.native setup.data setup.log *.install _opam/',
  'Objective-C':
    'xcuserdata/ *.xcscmblueprint *.xccheckout build/ DerivedData/ *.moved-aside *.hmap *.ipa *.dSYM.zip *.dSYM Pods/ Carthage/Build/',
  Perl: '!Build/ .last_cover_stats /META.yml /META.json /MYMETA.* *.o *.pm.tdy *.bs cover_db/ inc/ /pm_to_blib /blib/ /Makefile /Makefile.old /MANIFEST.bak nytprof.out',
  Python:
    '__pycache__/ *.py[codz] *$py.class *.so .Python build/ develop-eggs/ dist/ downloads/ eggs/ .eggs/ lib/ lib64/ parts/ sdist/ var/ wheels/ *.egg-info/ .installed.cfg *.egg MANIFEST *.manifest *.spec pip-log.txt htmlcov/ .tox/ .nox/ .coverage .coverage.* .cache nosetests.xml coverage.xml *.cover .hypothesis/ .pytest_cache/ *.mo *.pot local_settings.py db.sqlite3 instance/ .scrapy docs/_build/ .ipynb_checkpoints profile_default/ __pypackages__/ celerybeat-schedule .env .envrc .venv env/ venv/ .mypy_cache/ .dmypy.json .pyre/ .pytype/ .ruff_cache/',
  R: '.Rhistory .Rapp.history .RData .RDataTmp .Ruserdata *-Ex.R /*.tar.gz /*.Rcheck/ .Rproj.user/ vignettes/*.html vignettes/*.pdf .httr-oauth *_cache/ /cache/ *.utf8.md *.knit.md .Renviron rsconnect/',
  Rails:
    '*.rbc capybara-*.html .rspec /db/*.sqlite3 /db/*.sqlite3-journal /db/*.sqlite3-[0-9]* /public/system /public/assets /coverage/ /spec/tmp *.orig rerun.txt pickle-email-*.html /log/* /tmp/* !/log/.keep !/tmp/.keep config/master.key .env /.bundle /vendor/bundle /node_modules /storage/*',
  Ruby: '*.gem *.rbc /.config /coverage/ /InstalledFiles /pkg/ /spec/reports/ /spec/examples.txt /test/tmp/ /test/version_tmp/ /tmp/ .byebug_history /.yardoc/ /_yardoc/ /doc/ /rdoc/ /.bundle/ /vendor/bundle /lib/bundler/man/ .rvmrc',
  Rust: 'debug target **/*.rs.bk *.pdb **/mutants.out*/',
  Scala:
    '*.class *.log .bsp/ .metals/ .bloop/ project/metals.sbt project/target/ target/ .scala-build/ hs_err_pid*',
  Swift:
    'xcuserdata/ *.hmap *.ipa *.dSYM.zip *.dSYM timeline.xctimeline playground.xcworkspace .build/ .swiftpm/ Carthage/Build/ fastlane/report.xml fastlane/screenshots fastlane/test_output DerivedData/',
  TeX: '*.aux *.lof *.log *.lot *.fls *.out *.toc *.fmt *.fot *.cb *.cb2 .*.lb *.dvi *.xdv *.bbl *.bbl-SAVE-ERROR *.bcf *.blg *-blx.aux *-blx.bib *.run.xml *.fdb_latexmk *.synctex *.synctex.gz *.pdfsync *.nav *.snm *.vrb *.acn *.acr *.glg *.glo *.gls *.idx *.ilg *.ind *.ist *.lol _minted* latex.out/',
  Terraform:
    '**/.terraform/* *.tfstate *.tfstate.* crash.log crash.*.log *.tfvars *.tfvars.json override.tf override.tf.json *_override.tf *_override.tf.json .terraform.tfstate.lock.info .terraformrc terraform.rc',
  Unity:
    '/[Ll]ibrary/ /[Tt]emp/ /[Oo]bj/ /[Bb]uild/ /[Bb]uilds/ /[Ll]ogs/ /[Uu]ser[Ss]ettings/ /[Mm]emoryCaptures/ /[Rr]ecordings/ /[Aa]ssets/AssetStoreTools* .vs/ .gradle/ ExportedObj/ *.csproj *.unityproj *.sln *.suo *.tmp *.user *.userprefs *.pidb *.booproj *.pdb *.mdb *.opendb *.VC.db sysinfo.txt *.apk *.aab *.unitypackage',
  Vim: '[._]*.s[a-v][a-z] !*.svg [._]*.sw[a-p] [._]s[a-rt-v][a-z] [._]ss[a-gi-z] [._]sw[a-p] Session.vim Sessionx.vim .netrwhist *~ tags [._]*.un~',
  VisualStudio:
    '*.rsuser *.suo *.user *.userosscache *.sln.docstates [Dd]ebug/ [Rr]elease/ x64/ x86/ [Aa][Rr][Mm]/ [Aa][Rr][Mm]64/ bld/ [Bb]in/ [Oo]bj/ [Ll]og/ [Ll]ogs/ .vs/ [Tt]est[Rr]esult*/ *.ncb *.aps *.pdb *.ilk *.obj *.iobj *.pch *.ipdb *.pgc *.pgd *.rsp *.sbr *.tlb *.tli *.tlh *.tmp *.log *.binlog *.nupkg *.snupkg **/[Pp]ackages/* project.lock.json artifacts/ _ReSharper*/ *.dotCover node_modules/',
  VisualStudioCode:
    '.vscode/* !.vscode/settings.json !.vscode/tasks.json !.vscode/launch.json !.vscode/extensions.json !.vscode/*.code-snippets .history/ *.vsix',
  Windows:
    'Thumbs.db Thumbs.db:encryptable ehthumbs.db ehthumbs_vista.db *.stackdump [Dd]esktop.ini $RECYCLE.BIN/ *.cab *.msi *.msix *.msm *.msp *.lnk',
  Xcode:
    'xcuserdata/ *.xcscmblueprint *.xccheckout build/ DerivedData/ *.moved-aside *.pbxuser !default.pbxuser *.mode1v3 !default.mode1v3 *.mode2v3 !default.mode2v3 *.perspectivev3 !default.perspectivev3',
  Zig: '.zig-cache/ zig-cache/ zig-out/ *.o',
  macOS:
    '.DS_Store .AppleDouble .LSOverride ._* .DocumentRevisions-V100 .fseventsd .Spotlight-V100 .TemporaryItems .Trashes .VolumeIcon.icns .com.apple.timemachine.donotpresent .AppleDB .AppleDesktop .apdisk',
};

export const gitignoreNames: readonly string[] = Object.keys(templates);

/** Returns a template with one pattern a line, or undefined for a name that is not known. */
export function findGitignore(name: string): string | undefined {
  const patterns = Object.hasOwn(templates, name) ? templates[name] : undefined;
  return patterns === undefined ? undefined : `${patterns.replaceAll(' ', '\n')}\n`;
}
