/**
 * Languages that count as code, one entry `name|extensions|file names|interpreters` each. From linguist-languages
 * 9.5.0 (MIT) by `scripts/detection-tables.ts`; do not edit.
 */
export const languageTable = `1C Enterprise|bsl os;4D|4dm;ABAP|abap;ABAP CDS|asddls;AGS Script|asc ash;AIDL|aidl||aidl;ALGOL|alg;AMPL|ampl;ANTLR|g4;API Blueprint|apib
APL|apl dyalog||apl aplx dyalog;ASL|asl dsl;ASP.NET|asax ascx ashx asmx aspx axd;ATS|dats hats sats;ActionScript|as;Ada|ada adb ads;Agda|agda lagda;Aiken|ak
Aleo|aleo;Alloy|als;AngelScript|angelscript;Answer Set Programming|||clingo;Antlers|antlers.html antlers.php antlers.xml;Apex|apex
AppleScript|applescript scpt||osascript;Arc|arc;AspectJ|aj;Assembly|a51 agc asm i nas nasm s x68;Astro|astro;Asymptote|asy||asy;Augeas|aug
AutoHotkey|ah1 ah2 ahk ahkl;AutoIt|au3;Awk|auk awk gawk mawk nawk||awk gawk mawk nawk;B (Formal Method)|mch;BAML|baml;BASIC|bas;BBCode|bbcode;BQN|bqn
Ballerina|bal;Batchfile|bat cmd|gradlew.bat mvnw.cmd;Befunge|befunge;Berry|be;Bicep|bicep bicepparam;BitBake|bbappend bbclass;Blade|blade blade.php
BlitzBasic|decls;BlitzMax|bmx;Blueprint|blp;Bluespec|bs bsv;Boo|boo;Boogie|bpl||boogie;Brainfuck|b bf;Brightscript|brs;Bru|bru
C|c cats h h.in idc opencl upc||tcc;C#|cake cs cs.pp csx linq;C++|c++ cc cp cpp cppm cxx h++ hh hpp hxx inc inl ino ipp ixx re tcc tpp txx;C3|c3;CAP CDS|cds
CLIPS|clp;CMake|cmake cmake.in|CMakeLists.txt;COBOL|cbl ccp cob cobol cpy;CQL|cql;CSS|css pcss postcss;CUE|cue;Cadence|cdc;Cairo|cairo;Cangjie|cj
Cap'n Proto|capnp;Carbon|carbon;CartoCSS|mss;Ceylon|ceylon;Chapel|chpl;Charity|ch;ChucK|ck;Circom|circom;Cirru|cirru;Clarion|clw;Clarity|clar;Classic ASP|asp
Clean|dcl icl;Click|click;Clojure|bb boot cl2 clj cljc cljs cljs.hl cljscm cljx hic|riemann.config|bb;Closure Templates|soy;Clue|clue;CodeQL|ql qll
CoffeeScript|_coffee cjsx coffee coffee.erb coffee.md iced litcoffee|Cakefile|coffee;ColdFusion|cfc cfm cfml
Common Lisp|asd cl l lisp lsp ny podsl sexp||ccl clisp ecl lisp sbcl;Common Workflow Language|cwl||cwl-runner;Component Pascal|cps;Cooklang|cook
Crystal|cr||crystal;Csound|orc udo;Csound Document|csd;Csound Score|sco;Cuda|cu cuh;Curry|curry;Cycript|cy;Cypher|cyp cypher;Cython|pxd pxi pyx;D|d di;D2|d2
DIGITAL Command Language|com;DM|dm;DTrace|||dtrace;Dafny|dfy||dafny;Dart|dart||dart;Daslang|das;DataWeave|dwl;DenizenScript|dsc;Dhall|dhall
Dockerfile|containerfile dockerfile|Containerfile Dockerfile;Dogescript|djs;Dune||dune-project;Dylan|dyl dylan intr lid;E|e||rune;ECL|ecl eclxml
EJS|ect ejs ejs.t jst;EQ|eq;Earthly||Earthfile;Edge|edge;EdgeQL|edgeql esdl;Elixir|ex exs|mix.lock|elixir;Elm|elm;Elvish|elv||elvish
Emacs Lisp|el emacs emacs.desktop|.abbrev_defs .emacs .emacs.desktop .gnus .spacemacs .viper Cask Eask Project.ede _emacs abbrev_defs;EmberScript|em emberscript
Erlang|app app.src erl es escript hrl xrl yrl|Emakefile rebar.config rebar.config.lock rebar.lock|escript;Euphoria|||eui euiw;F#|fs fsi fsx;F*|fst fsti
FIRRTL|fir;FLUX|flux;FPP|fppi;Factor|factor|.factor-boot-rc .factor-rc;Fancy|fancypack fy|Fakefile;Fantom|fan;Faust|dsp;Fennel|fnl||fennel;Flix|flix
Forth|4th forth frt fth muf;Fortran|f f03 f08 f77 f90 f95 for fpp;FreeBASIC|bi;FreeMarker|ftl ftlh;Futhark|fut;G-code|cnc g gco gcode;GAML|gaml;GAMS|gms
GAP|gap gi tst;GDB|gdb gdbinit;GDScript|gd;GDShader|gdshader gdshaderinc
GLSL|fp frag frg fsh fshader geo geom glsl glslf glslv gs gshader rchit rmiss shader tesc tese vert vrx vs vsh vshader;GSC|csc gsc gsh;Genero 4gl|4gl
Genero per|per;Genshi|kid;Gherkin|feature story;Gleam|gleam;Glyph|glf;Gno|gno;Gnuplot|gnu gnuplot gp p plot||gnuplot;Go|go
Go Template|gohtml gotmpl html.tmpl tmpl|_helpers.tpl;Golo|golo;Gosu|gsx vark;Grace|grace;Grammatical Framework|gf
Groovy|groovy grt gsp gtpl gvy|Jenkinsfile|groovy;HCL|hcl nomad tf tftpl tfvars tofu;HIP|hip;HLSL|cginc fx fxh hlsl hlsli
HTML|cshtml ecr erb erb.deface heex hta htm html html.eex html.hl leex phtml razor rhtml xht xhtml;Hack|hack hhi;Haml|haml haml.deface;Handlebars|handlebars hbs
Harbour|hb;Hare|ha;Haskell|chs hs hs-boot hsc lhs||runghc runhaskell runhugs;Haxe|hx hxsl;HiveQL|hql q;HolyC|hc;Hurl|hurl;Hy|hy||hy;IDL|dlm;IGOR Pro|ipf
IL Assembly|il;ISPC|ispc;Idris|idr lidr;ImHex Pattern Language|hexpat;ImageJ Macro|ijm;Imba|imba;Inform 7|i7x ni;Ink|ink;Inno Setup|isl iss;Io|io||io
Ioke|ik||ioke;Isabelle|thy|ROOT;J|ijs||jconsole;JCL|jcl;Jac|jac;Jai|jai;Janet|janet||janet;Jasmin|j;Java|jav java jsh jsp jte tag
JavaScript|_js bones cjs es6 gjs jake javascript js js.erb jsb jscad jsfl jslib jsm jspre jss jsx mjs njs pac sjs ssjs xsjs xsjslib|Jakefile|bun chakra d8 deno gjs js node nodejs qjs rhino v8 v8-shell
JetBrains MPS|mpl msd;Jinja|j2 jinja jinja2;Jolie|iol ol||jolie;Jsonnet|jsonnet libsonnet;Julia|jl||julia;Jupyter Notebook|ipynb|Notebook
Just|just|.JUSTFILE .Justfile .justfile JUSTFILE Justfile justfile;KCL||kcl.mod kcl.mod.lock;KFramework|k;KRL|krl;Kaitai Struct|ksy;KakouneScript|kak|kakrc
KerboScript|ks;Kit|kit;Koka|kk||koka;Kotlin|kt ktm kts;LFE|lfe;LLVM|ll;LOLCODE|lol;LSL|lsl lslp||lsl;LabVIEW|lvclass lvlib lvproj;Langium|langium
Lasso|las lasso lasso8 lasso9;Latte|latte;Lean|hlean lean;Leo|leo;Less|less;Lex|flex jflex jisonlex lex|Lexer.x lexer.x;LigoLANG|ligo mligo religo
LilyPond|ily ly;Linear Programming|lp;Linker Script|ld lds x|ld.script;Liquid|liquid;Liquidsoap|liq;LiveCode Script|livecodescript;LiveScript|_ls ls|Slakefile
Lobster|lobster;Logos|xi xm;Logtalk|lgt logtalk;LookML|lkml lookml;Lua|fcgi lua nse p8 pd_lua rbxs rockspec wlua|.luacheckrc|lua luajit;Luau|luau||luau;M|mumps
M4|m4 mc|configure.ac;MATLAB|matlab;MAXScript|mcr;MDX|mdx;MLIR|mlir;MQL4|mq4 mqh;MQL5|mq5;MTML|mtml;Macaulay2|m2||M2
Makefile|mak make makefile mk mkfile|BSDmakefile GNUmakefile Kbuild Makefile Makefile.am Makefile.boot Makefile.frag Makefile.in Makefile.inc Makefile.pc Makefile.wat makefile makefile.sco mkfile|make
Mako|mako mao;Marko|marko;Mask|mask;Mathematical Programming System|mps;Max|maxhelp maxpat maxproj mxt pat;MeTTa|metta;Mercury|moo||mmi;Mermaid|mermaid mmd
Meson||meson.build meson_options.txt;Metal|metal;MiniD|minid;MiniZinc|mzn;Mint|mint;Mirah|druby duby mirah;Modelica|mo;Modula-3|i3 ig m3 mg
Module Management System|mmk mms|descrip.mmk descrip.mms;Monkey|monkey monkey2;MoonBit|mbt;MoonScript|moon||moon;Move|move;Mustache|mustache;Myghty|myt
NASL|nasl;NSIS|nsh nsi;NWScript|nss;Nearley|ne nearley;NetLinx|axi axs;NetLinx+ERB|axi.erb axs.erb;NetLogo|nlogo;NewLisp|||newlisp
Nextflow|nf|nextflow.config|nextflow;Nim|nim nim.cfg nimble nimrod nims|nim.cfg;Nit|nit;Nix|nix;Nu||Nukefile|nush;Nunjucks|njk;Nushell|nu||nu
OCaml|eliom eliomi ml ml4 mli mll mly||ocaml ocamlrun ocamlscript;OMNeT++ MSG|msg;OMNeT++ NED|ned;Oberon|ob2;Objective-C|m;Objective-J|sj;Odin|odin
Omgrofl|omgrofl;Opa|opa;Opal|opal;Open Policy Agent|rego;OpenEdge ABL|w;OpenQASM|qasm;OpenSCAD|scad;OverPy|opy;OverpassQL|overpassql;Ox|ox oxh oxo
Oxygene|oxygene;Oz|oz;P4|p4;PDDL|pddl;PEG.js|peggy pegjs;PHP|aw ctp php php3 php4 php5 phps phpt|.php .php_cs .php_cs.dist Phakefile|php
PLSQL|bdy fnc pck pkb pks plb pls plsql spc tpb tps trg vw;PLpgSQL|pgsql;POV-Ray SDL|pov;Pact|pact;Pan|pan;Papyrus|psc;Parrot|parrot pasm pir||parrot
Pascal|dfm dpr lpr pas pascal pp||instantfpc;Pawn|pwn sma;Pep8|pep
Perl|al cgi perl ph pl plx pm psgi t|.latexmkrc Makefile.PL Rexfile ack cpanfile latexmkrc|cperl perl;PicoLisp|||picolisp pil;PigLatin|pig;Pike|pike pmod||pike
Pkl|||pkl;PogoScript|pogo;Polar|polar;Pony|pony;Portugol|por;PostScript|eps epsi pfa ps;Power Query|pq;PowerBuilder|pbt sra sru srw
PowerShell|ps1 psd1 psm1||pwsh;Praat|praat;Processing|pde;Procfile||Procfile;Prolog|plt pro prolog yap||swipl yap;Promela|pml;Propeller Spin|spin;Pug|jade pug
Puppet||Modulefile;PureBasic|pb pbi;PureScript|purs;Pyret|arr
Python|gyp gypi lmi numpy numpyw numsc py py3 pyde pyi pyp pyt pyw rpy smk snakefile spec tac wsgi xpy|.gclient DEPS SConscript SConstruct Snakefile wscript|py pypy pypy3 python python2 python3 uv
QML|qbs qml;QMake|pri||qmake;Qt Script|qs|installscript.qs toolchain_installscript.qs;Quake||m3makefile m3overrides;QuakeC|qc;Quint|qnt
R|r rd rhistory rsx|.Rapp.history .Rhistory .Rprofile expr-dist|Rscript;RAML|raml;RAScript|rascript;REALbasic|rbbas rbfrm rbmnu rbres rbtbar rbuistate
REXX|pprx rex rexx||regina rexx;RPGLE|rpgle sqlrpgle;RUNOFF|rnh;Racket|rkt rktd rktl scrbl||racket;Ragel|rl
Raku|6pl 6pm nqp p6 p6l p6m pl6 pm6 raku rakumod||perl6 raku rakudo;Rascal|rsc;ReScript|resi;Reason|rei;Rebol|r2 r3 reb rebol;Red|red reds;Redcode|cw
RenderScript|rsh;Rhai|rhai;Rich Text Format|rtf;Ring|ring;Riot|riot;RobotFramework|resource robot;Roc|roc;Rocq Prover|coq
Roff|1 1in 1m 1x 2 3 3in 3m 3p 3pm 3qt 3x 4 5 6 7 8 9 chem man mdoc me ms n nr pic rno roff tmac|eqnrc mmn mmt troffrc troffrc-end;Rouge|rg
RouterOS Script|||RouterOS
Ruby|builder eye gemspec god jbuilder mspec pluginspec podspec prawn rabl rake rb rbi rbuild rbw rbx ru ruby thor watchr|.irbrc .pryrc .simplecov Appraisals Berksfile Brewfile Buildfile Capfile Dangerfile Deliverfile Fastfile Gemfile Guardfile Jarfile Mavenfile Podfile Puppetfile Rakefile Snapfile Steepfile Thorfile Vagrantfile buildfile|jruby macruby rake rbx ruby
Rust|rs rs.in||rust-script;SAS|sas;SCSS|scss;SIP|sip;SMT|smt smt2 z3||boolector cvc4 mathsat5 opensmt smt-rat smtinterpol stp verit yices2 z3;SQF|hqf sqf
SQLPL|db2;SRecode Template|srt;SWIG|swg swig;Sage|sage sagews;Sail|sail;Sass|sass;Scala|kojo sbt sc scala||scala;Scaml|scaml;Scenic|scenic||scenic
Scheme|sch scm sld sls sps ss||bigloo chicken csi gosh guile r6rs scheme;Scilab|sce sci;Self|self
Shell|bash bats command csh ebuild eclass fish ksh pacscript sbatch sh sh.in slurm tcsh tmux tool trigger zsh zsh-theme|.bash_aliases .bash_functions .bash_history .bash_logout .bash_profile .bashrc .cshrc .envrc .flaskenv .kshrc .login .profile .tmux.conf .xinitrc .xsession .zlogin .zlogout .zprofile .zshenv .zshrc 9fs APKBUILD PKGBUILD bash_aliases bash_logout bash_profile bashrc cshrc gradlew kshrc login man mvnw profile tmux.conf xinitrc xsession zlogin zlogout zprofile zshenv zshrc|ash bash csh dash fish ksh mksh openrc-run pdksh rc sh tcsh zsh
ShellSession|sh-session;Shen|shen;Sieve|sieve;Singularity||Singularity;Slang|slang;Slash|sl;Slim|slim;Slint|slint;SmPL|cocci;Smali|smali;Smalltalk|st;Smarty|tpl
Smithy|smithy;Solidity|sol;SourcePawn|sp;Squirrel|nut;Stan|stan;Standard ML|fun sig sml
Starlark|bzl|BUCK BUILD BUILD.bazel MODULE.bazel Tiltfile WORKSPACE WORKSPACE.bazel WORKSPACE.bzlmod;Stata|ado do doh ihlp mata matah sthlp;Stylus|styl
SugarSS|sss;SuperCollider|||sclang scsynth;SurrealQL|surql;Svelte|svelte;Swift|swift;SystemVerilog|sv svh vh;TI Program|8xp 8xp.txt;TL-Verilog|tlv;TLA|tla
TXL|txl;Talon|talon;Tape|tape;Tcl|adp sdc tcl tcl.in tm xdc|owh starfield|tclsh wish;TeX|aux bbx bib bibtex cbx cls dtx ins lbx ltx mkii mkiv mkvi sty tex toc
Tea|tea;Teal|||tl;Thrift|thrift;Toit|toit;Tolk|tolk;Turing|tu;Twig|twig;TypeScript|cts gts mts ts tsx||ts-node tsx;Uno|uno;UnrealScript|uc
Untyped Plutus Core|uplc;UrWeb|ur urs;VBScript|vbs;VCL|vcl;VHDL|vhd vhdl vhf vhi vho vhs vht vhw;Vala|vala vapi;Velocity Template Language|vtl;Vento|vto
Verilog|v veo;Verse|verse;Vim Snippet|snip snippet snippets;Vim script|vba vim vimrc vmb|.exrc .gvimrc .nvimrc .vimrc _vimrc gvimrc nvimrc vimrc
Visual Basic .NET|vb vbhtml;Visual Basic 6.0|ctl dsr frm;Volt|volt;Vue|vue;Vyper|vy;WDL|wdl;WGSL|wgsl;WebAssembly|wast wat;WebIDL|webidl;Whiley|whiley
Witcher Script|ws
Wolfram Language|cdf ma mathematica mt nbp wl wls wlt||MathKernel Mathematica MathematicaScript WolframKernel WolframNB math wolfram wolframscript;Wollok|wlk
Wren|wren;X10|x10;XC|xc;XProc|xpl xproc;XQuery|xq xql xqm xquery xqy;XS|xs;XSLT|xsl xslt;Xmake||xmake.lua
Xojo|xojo_code xojo_menu xojo_report xojo_script xojo_toolbar xojo_window;Xonsh|xsh;Xtend|xtend;YARA|yar yara;YASnippet|yasnippet;Yacc|bison jison y yacc
Yul|yul;ZAP|xzap zap;ZIL|mud zil;Zeek|bro zeek;ZenScript|zs;Zephir|zep;Zig|zig zig.zon;Zimpl|zimpl zmpl zpl;eC|ec eh;hoon|hoon
jq|jq||gojq jaq jq jqjq jqq query-json;kvlang|kv;mIRC Script|mrc;mcfunction|mcfunction;mupad|mu;nesC|nc;ooc|ooc;sed|sed||gsed minised sed ssed;templ|templ
ucode|||ucode;wisp|wisp;xBase|prg prw`;
