import { createGlob } from '../../patterns/glob.ts';
import { GlobError } from '../../patterns/glob-error.ts';
import { readBranch } from '../platform/git/refs.ts';
import type { GitRepository } from '../platform/git/repository.ts';
import { type DeepEntry, findEntry, readBlob, readTreeDeep } from '../platform/git/tree.ts';
import type { RepositoryRow } from '../platform/rows.ts';
import { licenseSketches } from './license-sketches.ts';

/** Bytes of a file that decide about its language where its name does not. */
const headBytes = 16 * 1024;
/** Larger files are judged by their name alone. */
const maxReadBytes = 1024 * 1024;
/** Files that are looked at; of a larger repository, the first ones. */
const maxFiles = 50_000;
/** Files whose sizes are asked for at a time. */
const atOnce = 500;

/** Returns the bytes of each language on the default branch, most first. */
export async function countLanguages(
  git: GitRepository,
  repository: RepositoryRow,
): Promise<Readonly<Record<string, number>>> {
  const commit = await readBranch(git, repository.default_branch);
  const entries = commit && (await readTreeDeep(git, commit.tree));
  if (commit === undefined || entries === undefined) return {};
  const attributesOf = readLinguistAttributes((await readTextFile(git, commit.id, '.gitattributes')) ?? '');
  const files = entries.filter(({ kind }) => kind === 'file').slice(0, maxFiles);
  const sizes = new Map<string, number>();
  for (let from = 0; from < files.length; from += atOnce) {
    const counted = files
      .slice(from, from + atOnce)
      .map((file) => countFile(git, file, attributesOf(file.path)));
    for (const count of await Promise.all(counted)) {
      if (count !== undefined) sizes.set(count.language, (sizes.get(count.language) ?? 0) + count.size);
    }
  }
  const sorted = [...sizes].toSorted(([one, more], [other, less]) => less - more || (one < other ? -1 : 1));
  return Object.fromEntries(sorted);
}

async function countFile(
  git: GitRepository,
  { id, path }: DeepEntry,
  { isCounted, language }: LinguistAttributes,
): Promise<{ readonly language: string; readonly size: number } | undefined> {
  if (isCounted === false || (isCounted === undefined && language === undefined && isUncounted(path)))
    return undefined;
  const name = language ?? languageOf(path, (await needsHead(git, path, id)) ?? '');
  if (name === undefined) return undefined;
  const size = (await git.objects.info(id))?.size ?? 0;
  return size > 0 ? { language: name, size } : undefined;
}

/** Returns the beginning of a file whose name alone does not tell its language. */
async function needsHead(git: GitRepository, path: string, id: string): Promise<string | undefined> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.includes('.') && !/\.(h|m)$/i.test(name)) return undefined;
  const blob = await readBlob(git, id, maxReadBytes);
  return blob?.content?.subarray(0, headBytes).toString('utf8');
}

/** Returns the SPDX ids of the licences in the file `LICENSE` of the default branch. */
export async function listLicenses(
  git: GitRepository,
  repository: RepositoryRow,
): Promise<readonly string[]> {
  const commit = await readBranch(git, repository.default_branch);
  const text = commit && (await readTextFile(git, commit.id, 'LICENSE'));
  return text === undefined ? [] : licensesOf(text);
}

/** Returns the text of a file of at most 1 MiB; undefined where there is none. */
export async function readTextFile(
  git: GitRepository,
  commitId: string,
  path: string,
): Promise<string | undefined> {
  const entry = await findEntry(git, commitId, path);
  if (entry?.kind !== 'file') return undefined;
  return (await readBlob(git, entry.id, maxReadBytes))?.content?.toString('utf8');
}

/**
 * Languages that count as code, one entry `name|extensions|file names|interpreters` each. From linguist-languages
 * 9.5.0 (MIT) by `scripts/detection-tables.ts`; do not edit.
 */
const languageTable = `1C Enterprise|bsl os;4D|4dm;ABAP|abap;ABAP CDS|asddls;AGS Script|asc ash;AIDL|aidl||aidl;ALGOL|alg;AMPL|ampl;ANTLR|g4;API Blueprint|apib
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

const byExtension = new Map<string, string>();
const byFileName = new Map<string, string>();
const byInterpreter = new Map<string, string>();
for (const entry of languageTable.split(/[;\n]/)) {
  const [name = '', extensions = '', fileNames = '', interpreters = ''] = entry.split('|');
  for (const extension of extensions.split(' ').filter(Boolean)) byExtension.set(extension, name);
  for (const fileName of fileNames.split(' ').filter(Boolean)) byFileName.set(fileName, name);
  for (const interpreter of interpreters.split(' ').filter(Boolean)) byInterpreter.set(interpreter, name);
}

/** Folders and files that come from elsewhere, are written by programs, or explain; source: linguist `vendor.yml`. */
const uncounted = [
  /(^|\/)(node_modules|bower_components|vendors?|third[-_]?party|3rd[-_]?party|extern(als?)?|deps|dist|Godeps|Pods)\//i,
  /(^|\/)(docs?|documentation|javadoc|man|examples?|samples|demos?)\//i,
  /(^|\/)(CHANGE(S|LOG)?|CONTRIBUTING|COPYING|INSTALL|LICEN[CS]E|README|Jenkinsfile)(\.|$)/i,
  /[.-]min\.(js|css)$|\.pb\.(go|cc|h)$|_pb2\.py$|\.g\.dart$|\.designer\.cs$|(^|\/)(jquery|bootstrap|d3|normalize)[^/]*\.(js|css)$/i,
  /(^|\/)(gradlew|mvnw|configure|config\.(guess|sub)|ltmain\.sh|aclocal\.m4|package-lock\.json)(\.bat|\.cmd)?$/,
];

/** Returns whether the path alone says that a file is not the project's own code. */
function isUncounted(path: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return name.startsWith('.') || uncounted.some((pattern) => pattern.test(path));
}

/** Returns the language of a file by its name, an interpreter in its first line where the name says nothing; undefined if it is not code. */
function languageOf(path: string, head: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  const known = byFileName.get(name);
  if (known !== undefined) return known;
  const parts = name.toLowerCase().split('.');
  for (let from = 1; from < parts.length; from += 1) {
    const extension = parts.slice(from).join('.');
    const language = byExtension.get(extension);
    if (language !== undefined) return decide(extension, language, head);
  }
  if (parts.length > 1) return undefined;
  const [, program = ''] =
    /^#!\s*(?:\S*\/env\s+(?:-\S+\s+|\w+=\S+\s+)*)?(?:\S*\/)?([\w.+-]+)/.exec(head) ?? [];
  return byInterpreter.get(program) ?? byInterpreter.get(program.replace(/[\d.]+$/, ''));
}

/** Extensions of several languages that their content tells apart. */
function decide(extension: string, language: string, head: string): string {
  if (extension === 'h') {
    if (/^\s*(@(interface|protocol|class|property|end)\b|#import\b)/m.test(head)) return 'Objective-C';
    const isCpp =
      /^\s*(#include\s*<(iostream|string|vector|map|memory|cstd\w+|algorithm)>|template\s*<|namespace\s|class\s+\w+|using\s+\w)|std::|^\s*(public|private|protected):/m;
    return isCpp.test(head) ? 'C++' : 'C';
  }
  if (
    extension === 'm' &&
    /^\s*(function\b|%)/m.test(head) &&
    !/@(interface|implementation|import)/.test(head)
  ) {
    return 'MATLAB';
  }
  return language;
}

/** What `.gitattributes` says of how a path counts. */
type LinguistAttributes = {
  /** `linguist-vendored`, `-generated`, `-documentation` or `-detectable=false`: not counted; the reverse: counted. */
  readonly isCounted?: boolean;
  readonly language?: string;
};

/** Reads the lines about languages of a `.gitattributes`; returns what they say of a path, the last one that matches. */
function readLinguistAttributes(text: string): (path: string) => LinguistAttributes {
  const lines = text.split(/\r?\n/).filter((line) => /linguist-/.test(line) && !line.startsWith('#'));
  const rules = lines.flatMap((line) => {
    const [pattern = '', ...words] = line.trim().split(/\s+/);
    const matches = compilePattern(pattern);
    return matches === undefined ? [] : [{ matches, says: attributesOf(words) }];
  });
  return (path) => {
    const says: Record<string, unknown> = {};
    for (const rule of rules) if (rule.matches(path)) Object.assign(says, rule.says);
    return says;
  };
}

function compilePattern(pattern: string): ((path: string) => boolean) | undefined {
  const plain = pattern.replace(/^\//, '').replace(/\/$/, '/**');
  try {
    const anywhere = pattern.replace(/\/$/, '').includes('/') ? plain : `**/${plain}`;
    return createGlob(anywhere, { strict: false });
  } catch (error) {
    if (error instanceof GlobError) return undefined;
    throw error;
  }
}

function attributesOf(words: readonly string[]): LinguistAttributes {
  let says: LinguistAttributes = {};
  for (const word of words) {
    const [, minus, name, value] = /^(-?)linguist-(\w+)(?:=(.*))?$/.exec(word) ?? [];
    const isOn = minus !== '-' && value !== 'false';
    if (name === 'language' && value) says = { ...says, language: byName(value) };
    if (name === 'detectable') says = { ...says, isCounted: isOn };
    if (name === 'vendored' || name === 'generated' || name === 'documentation') {
      says = { ...says, isCounted: !isOn };
    }
  }
  return says;
}

/** Names are written without regard to case, with `-` for spaces. */
function byName(value: string): string {
  const wanted = value.toLowerCase().replaceAll('-', ' ');
  for (const name of new Set([...byExtension.values(), ...byFileName.values()])) {
    if (name.toLowerCase().replaceAll('-', ' ') === wanted) return name;
  }
  return value;
}

/** Share of a licence's text that a file must have, as on Gitea. */
const minShare = 0.85;
/** A licence is at the beginning of its file; what follows may be anything. */
const maxCharacters = 200_000;

/**
 * Returns the SPDX ids of the licences whose text a file has, by name. Of licences with much of the same text, the one that the
 * file has most of is listed, or the longer one: `BSD-2-Clause` is part of `BSD-3-Clause`.
 */
function licensesOf(text: string): readonly string[] {
  const present = shinglesOf(text.slice(0, maxCharacters));
  const matched = licenseSketches.flatMap((license) => {
    const hashes = license.sketch.split(' ').map((hash) => Number.parseInt(hash, 36));
    const share = hashes.filter((hash) => present.has(hash)).length / hashes.length;
    return share >= minShare ? [{ ...license, share }] : [];
  });
  type Match = (typeof matched)[number];
  const isBetter = (one: Match, other: Match): boolean =>
    one.share > other.share || (one.share === other.share && one.length > other.length);
  return matched
    .filter((one) => !matched.some((other) => other.related.includes(one.id) && isBetter(other, one)))
    .map(({ id }) => id);
}

/** Words that one shingle has. */
const width = 5;

/**
 * Returns the hashes of all runs of five words of a text, without case, punctuation, and lines that name who has the
 * copyright: two copies of one licence have the same ones.
 */
export function shinglesOf(text: string): ReadonlySet<number> {
  const plain = text
    .toLowerCase()
    .replace(/^.*(copyright|©).*\b(\d{4}|year|yyyy)\b.*$/gm, ' ')
    .replace(/<[^<>\n]{1,60}>|\[[^[\]\n]{1,60}\]/g, ' ');
  const words = plain.match(/[\p{L}\p{N}]+/gu) ?? [];
  const hashes = new Set<number>();
  for (let at = 0; at + width <= words.length; at += 1) {
    hashes.add(hashOf(words.slice(at, at + width).join(' ')));
  }
  return hashes;
}

/** FNV-1a of 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  }
  return hash;
}
