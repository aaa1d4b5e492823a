import {
  loadForge,
  loadSettings
} from "./chunk-SW2RTCO5.mjs";
import {
  packageVersion
} from "./chunk-2FKHOA73.mjs";
import "./chunk-W47FSTJL.mjs";
import "./chunk-Z6LLQXQ6.mjs";
import {
  processTerminal
} from "./chunk-2N6KPMKU.mjs";
import "./chunk-VTTQ2TL3.mjs";
import "./chunk-PGPAQ2TF.mjs";
import "./chunk-WHXP6K3X.mjs";
import "./chunk-D4IFGYQO.mjs";
import "./chunk-OVHSHDHZ.mjs";
import "./chunk-P5GSASXZ.mjs";
import {
  ReeveError,
  messageOf
} from "./chunk-KZNQZHIP.mjs";

// src/cli.ts
import { Command, CommanderError } from "commander";

// src/commands/connecting.ts
function addConnecting(program, { environment, terminal, prompt }, finish) {
  program.command("setup").description(
    "connect a forge: token, secrets, hooks, and a delivery by each; run again it mends what is not so"
  ).option("--url <url>", "the forge (FORGE_URL)").option("--token-file <file>", "file with the access token of the account Reeve acts as (FORGE_TOKEN)").option(
    "--admin-token-file <file>",
    "file with the token of somebody who may make the hooks; used now and kept nowhere (SETUP_TOKEN)"
  ).option("--webhook <url>", "address of Reeve as the forge reaches it; default: HOST and PORT").option("--repository <names...>", "make a hook in these repositories (owner/name)").option("--organization <names...>", "make a hook in these organizations").option("--user", "make a hook of the account whose token makes the hooks").option("--system", "make a hook of the instance (needs a site administrator\u2019s token)").option(
    "--events <which>",
    "what hooks hear: all (default), or rules: what the operator\u2019s rules listen to"
  ).option("--dashboard <url>", "address of the dashboard: registers an OAuth2 application to sign in with").option("--allow-admin", "let Reeve act as a site administrator").option("--config <file>", "the operator file (REEVE_CONFIG); default ./reeve.yml").option("--rotate", "give the hooks new secrets").option("--no-test", "let no hook deliver").option("--plan", "tell what would be done; nothing is written").option("--json", "print one JSON object").addHelpText(
    "after",
    `
The env file that it writes (--settings, default ./reeve.env) holds the token and the webhook secrets, readable by its
owner alone. To try the hook of an organization, an account or the instance, a private repository is made and removed.

Examples:
  $ reeve setup
  $ reeve setup --url https://git.example.org --token-file token --repository acme/demo --webhook https://reeve.example.org
  $ reeve setup --organization acme --admin-token-file owner-token
  $ reeve setup --rotate
`
  ).action(async (_options, command) => {
    const { setup } = await import("./setup-J3TJGE5J.mjs");
    finish(await setup(command.optsWithGlobals(), environment, terminal, prompt));
  });
  program.command("doctor").description(
    "find what is wrong with a connection: token, hooks, secrets, deliveries, disk, clock, rules"
  ).option(
    "--thorough",
    "try the hooks of organizations, accounts and the instance, too: makes and removes a private repository"
  ).option("--no-test", "let no hook deliver").option("--json", "print one JSON object").addHelpText(
    "after",
    "\nExamples:\n  $ reeve doctor --settings reeve.env\n  $ SETUP_TOKEN_FILE=owner-token reeve doctor --settings reeve.env --thorough\n"
  ).action(async (_options, command) => {
    const { doctor } = await import("./doctor-ESTRIQVM.mjs");
    finish(await doctor(command.optsWithGlobals(), environment, terminal));
  });
}

// src/commands/prompt.ts
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
function processPrompt() {
  const { stdin, stderr } = process;
  if (!stdin.isTTY || !stderr.isTTY) return void 0;
  return {
    async ask(question, { hidden = false, standard } = {}) {
      const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
      const text = `${question}${standard === void 0 ? "" : ` [${standard}]`}: `;
      if (hidden) stderr.write(text);
      const reader = createInterface({ input: stdin, output: hidden ? silence : stderr, terminal: true });
      try {
        const answer = (await reader.question(hidden ? "" : text)).trim();
        if (hidden) stderr.write("\n");
        return answer === "" ? standard ?? "" : answer;
      } finally {
        reader.close();
      }
    }
  };
}

// src/cli.ts
var examples = (lines) => `
Examples:
${lines.map((line) => `  $ ${line}`).join("\n")}
`;
function createProgram(context, finish) {
  const { terminal } = context;
  const program = new Command("reeve");
  const environment = { ...context.environment };
  const settings = () => loadSettings(environment);
  program.description(
    "Keeps the rules of a self-hosted forge: hears what happens, holds it against rules in YAML, does what they ask."
  ).version(packageVersion(), "-V, --version", "print the version").helpOption("-h, --help", "print this help").exitOverride().configureOutput({
    writeOut: (text) => terminal.out(text.trimEnd()),
    writeErr: (text) => terminal.error(text.trimEnd())
  }).option(
    "--settings <file>",
    "take settings from this file too, as reeve setup writes it; the environment goes before it"
  ).hook("preAction", async (_program, command) => {
    const { settings: file } = command.optsWithGlobals();
    if (file === void 0 || command.name() === "setup") return;
    const { mergeEnvironments, readEnvFile } = await import("./env-file-VKSX5PO5.mjs");
    Object.assign(environment, mergeEnvironments(readEnvFile(file), context.environment));
  }).showHelpAfterError("(reeve --help tells what there is)").addHelpText(
    "after",
    "\nExit status: 0 fine \xB7 1 problems or failed changes \xB7 2 usage or settings \xB7 3 the forge cannot be reached\n"
  );
  program.command("serve").description("run the bot; without FORGE_URL, with an embedded forge beside it and a demo to look at").option(
    "--once",
    "play the demo in a temporary folder and exit: 0 only if every label is where the rules want it"
  ).addHelpText(
    "after",
    examples([
      "reeve serve",
      "reeve serve --once",
      "FORGE_URL=https://git.example.org FORGE_TOKEN_FILE=token reeve serve"
    ])
  ).action(async (options) => {
    const { serve } = await import("./serve-WXVMZ2UJ.mjs");
    finish(await serve({ once: options.once ?? false }, await settings(), terminal));
  });
  program.command("forge").description("run the embedded forge alone, on loopback").option("--port <number>", "port to listen on, 0 for a free one", "3000").option("--data <folder>", "where it keeps everything", "./data/forge").option(
    "--admin <name:password>",
    "make this site administrator (others on this machine can see it: for trying things)"
  ).option("--admin-password-file <file>", "make the site administrator root with the password in this file").option(
    "--seed <file>",
    "bring about what this file says (YAML): accounts, repositories, runners and more"
  ).option("--seed-schema", "print the JSON Schema of seed files and exit").option(
    "--control",
    "mount /-/control/ for runners, clock, redelivery and faults; bearer in control.token"
  ).option("--json", "print one line of JSON with the url once it listens").addHelpText(
    "after",
    examples([
      "reeve forge --port 0 --data ./forge --admin root:password --json",
      "reeve forge --data ./forge --seed examples/seed.yml --control",
      "reeve forge --seed-schema > seed.schema.json"
    ])
  ).action(
    async (options) => {
      const { forge, seedSchema } = await import("./forge-57MKUSLN.mjs");
      finish(options.seedSchema ? seedSchema(terminal) : await forge(options, terminal));
    }
  );
  program.command("check [paths...]").description(
    "list the problems of rule files, by default those of this repository; offline, or, with FORGE_URL and a way to sign in, also what that forge cannot do"
  ).option("--json", "print one JSON object").addHelpText(
    "after",
    examples(["reeve check", "reeve check rules/ .reeve.yml", "reeve check --json rules/"])
  ).action(async (paths, options) => {
    const { check } = await import("./check-L56TUM56.mjs");
    const forge = loadForge(environment);
    const given = { ...options, rules: environment.REEVE_RULES, ...forge ? { forge } : {} };
    finish(await check(paths, given, terminal));
  });
  program.command("test [paths...]").description(
    "run the rule tests (NAME.test.yml beside NAME.yml) and tell which rules and steps no case reaches"
  ).option("--json", "print one JSON object").addHelpText("after", examples(["reeve test rules/", "reeve test rules/demo/labels.test.yml"])).action(async (paths, options) => {
    const { test } = await import("./test-OQ3HD7JW.mjs");
    finish(await test(paths, { ...options, rules: environment.REEVE_RULES }, terminal));
  });
  program.command("plan").description("show what the rules would do with one event, and why; nothing is written").requiredOption("--event <kind>", "family or Event-Type: pull_request, issues, push, \u2026").requiredOption("--payload <file>", "the body of the delivery, JSON or YAML").option("--facts <file>", "what is known, name to value; with it no forge is asked").option("--rules <path>", "rule file or folder").option("--json", "print the run as one line of JSON").addHelpText(
    "after",
    examples([
      "reeve plan --event pull_request --payload opened.json --facts facts.yml --rules rules/demo"
    ])
  ).action(
    async (options) => {
      const { plan } = await import("./plan-FVZ7KCFZ.mjs");
      finish(await plan(options, await settings(), terminal));
    }
  );
  program.command("explain <run>").description("tell why each rule of a recorded run did or did not fire: RUN, a delivery id, or last").option("--json", "print each run as one line of JSON").addHelpText("after", examples(["reeve explain last", "reeve explain 42"])).action(async (run, options) => {
    const { explain } = await import("./explain-ORVPFHCT.mjs");
    finish(await explain(run, options, await settings(), terminal));
  });
  program.command("revert <run>").description("take back what a run did, where it is still so; what changed since is left alone").option("--plan", "show what would be taken back; nothing is written").option("--json", "print the run as one line of JSON").addHelpText("after", examples(["reeve revert --plan RUN", "reeve revert RUN"])).action(async (run, options) => {
    const { revert } = await import("./revert-7QMYCJSD.mjs");
    finish(await revert(run, options, await settings(), terminal));
  });
  program.command("replay [delivery]").description("hold a recorded file or a stored delivery against the rules of today; nothing is written").option("--event <kind>", "kind of a file that holds a body alone").option(
    "--since <time>",
    "every stored delivery of the last 30m, 12h or 7d, compared with what it came to"
  ).option("--rules <path>", "rule file or folder to try instead of what is in force").option("--json", "print each result as one line of JSON").addHelpText(
    "after",
    examples([
      "reeve replay 42",
      "reeve replay --event issues opened.json",
      "reeve replay --since 7d --rules rules/"
    ])
  ).action(
    async (delivery, options) => {
      const { replay } = await import("./replay-MMCRR72S.mjs");
      finish(await replay(delivery, options, await settings(), terminal));
    }
  );
  program.command("redrive [deliveries...]").description("try dead deliveries again, those named or all").option("--all", "every dead delivery").option("--json", "print one JSON object").addHelpText("after", examples(["reeve redrive 42 43", "reeve redrive --all"])).action(async (ids, options) => {
    const { redrive } = await import("./redrive-BCRWWY2U.mjs");
    finish(await redrive(ids, options, await settings(), terminal));
  });
  program.command("sweep <rule>").description("run the sweep of a rule now; beside a running server, the server does it").option("--in <patterns...>", "only these repositories or organizations").option("--json", "print how it went as one JSON object").addHelpText(
    "after",
    examples(["reeve sweep quiet-notifications", "reeve sweep release-tags --in 'acme/*'"])
  ).action(async (rule, options) => {
    const { sweep } = await import("./sweep-VLT446GM.mjs");
    finish(await sweep(rule, options, await settings(), terminal));
  });
  program.command("runners").description("list the runners that sweeps have seen, and since when they are as they are").option("--json", "print one JSON list").addHelpText("after", examples(["reeve runners"])).action(async (options) => {
    const { runners } = await import("./runners-2BP7RVZY.mjs");
    finish(await runners(options, await settings(), terminal));
  });
  program.command("drift [items...]").description(
    "list what is not as a rule wants it, and since when; or describe what is live as a rule file"
  ).option("--adopt", "print the rule file that describes what is live in a repository or an organization").option("--json", "print one JSON list").addHelpText("after", examples(["reeve drift", "reeve drift acme/demo", "reeve drift --adopt acme/demo"])).action(async (items, options) => {
    const { drift } = await import("./drift-N4L7EWRC.mjs");
    finish(await drift(items, options, await settings(), terminal));
  });
  program.command("schema").description("print the JSON Schema of rule files, for editors").addHelpText("after", examples(["reeve schema > reeve.schema.json"])).action(async () => {
    const { schema } = await import("./schema-HIUH5OFG.mjs");
    finish(schema(terminal));
  });
  addConnecting(program, { environment, terminal, prompt: context.prompt }, finish);
  return program;
}
async function runCommandLine(argv, context) {
  let status = 0;
  const program = createProgram(context, (given) => {
    status = given;
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    context.terminal.error(`reeve: ${messageOf(error)}`);
    return error instanceof ReeveError ? error.exit : 1;
  }
}
async function main() {
  const context = { environment: process.env, terminal: processTerminal, prompt: processPrompt() };
  process.exitCode = await runCommandLine(process.argv.slice(2), context);
}
if (import.meta.main) await main();
export {
  createProgram,
  main,
  runCommandLine
};
