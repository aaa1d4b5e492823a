import {
  secretValues
} from "./chunk-SW2RTCO5.mjs";
import {
  startServer
} from "./chunk-EGTTTTAC.mjs";
import "./chunk-FMNVGFWC.mjs";
import "./chunk-4FRPHDSK.mjs";
import "./chunk-OW5Z6KEA.mjs";
import "./chunk-IIAQHJFW.mjs";
import "./chunk-ZICOA7TD.mjs";
import "./chunk-4PU7AWH5.mjs";
import "./chunk-QIWTVMRL.mjs";
import "./chunk-PWAXHV5D.mjs";
import "./chunk-2FKHOA73.mjs";
import "./chunk-YK7TMJ5P.mjs";
import "./chunk-F5HW2RH7.mjs";
import "./chunk-XJ67IZNZ.mjs";
import "./chunk-W47FSTJL.mjs";
import "./chunk-Z6LLQXQ6.mjs";
import {
  untilStopped
} from "./chunk-JYGNNTIO.mjs";
import "./chunk-5BSG5FQ5.mjs";
import "./chunk-OK4C527H.mjs";
import "./chunk-PIDYP5MN.mjs";
import "./chunk-LTENOIKX.mjs";
import "./chunk-MMU7GUSS.mjs";
import "./chunk-QVU6XQ2A.mjs";
import "./chunk-VTTQ2TL3.mjs";
import "./chunk-PGPAQ2TF.mjs";
import "./chunk-WHXP6K3X.mjs";
import "./chunk-D4IFGYQO.mjs";
import {
  createLog
} from "./chunk-OVHSHDHZ.mjs";
import "./chunk-P5GSASXZ.mjs";
import {
  ReeveError
} from "./chunk-KZNQZHIP.mjs";

// src/commands/serve.ts
async function serve(options, settings, terminal) {
  const { forge } = settings;
  if (forge === void 0) {
    const { runDemo } = await import("./demo-F7BL3SBH.mjs");
    await runDemo({ once: options.once, untilStopped }, settings, terminal);
    return 0;
  }
  if (options.once)
    throw new ReeveError("usage", "--once plays the demo on the embedded forge: unset FORGE_URL");
  const log = createLog({ level: settings.logLevel, secrets: secretValues(settings) });
  const stopped = untilStopped();
  const server = await startServer({ ...settings, forge, log });
  const signal = await stopped;
  log.info({ signal }, "stopping");
  await server.stop();
  return 0;
}
export {
  serve
};
