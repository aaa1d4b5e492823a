import {
  secretValues
} from "./chunk-YBIUXSDT.mjs";
import {
  startServer
} from "./chunk-FB5AU6ZT.mjs";
import "./chunk-FMNVGFWC.mjs";
import "./chunk-UEY2NAVB.mjs";
import "./chunk-B5UNZPXT.mjs";
import "./chunk-AHUCLV5R.mjs";
import "./chunk-HHD2DE2Z.mjs";
import "./chunk-R6EQ5LM3.mjs";
import "./chunk-QIWTVMRL.mjs";
import "./chunk-PWAXHV5D.mjs";
import "./chunk-2FKHOA73.mjs";
import "./chunk-MOCXJ26S.mjs";
import "./chunk-WWNV475B.mjs";
import "./chunk-G7CNB6SQ.mjs";
import "./chunk-A3WBVEUC.mjs";
import "./chunk-Z6LLQXQ6.mjs";
import {
  watchSignals
} from "./chunk-HUNHILZ4.mjs";
import "./chunk-5BSG5FQ5.mjs";
import "./chunk-OK4C527H.mjs";
import "./chunk-PIDYP5MN.mjs";
import "./chunk-LTENOIKX.mjs";
import "./chunk-LGOA7GGY.mjs";
import "./chunk-GYGT5H5E.mjs";
import "./chunk-IFKD7BAJ.mjs";
import "./chunk-6MXTY6BW.mjs";
import "./chunk-DXQTXMKO.mjs";
import "./chunk-CLEI7EDK.mjs";
import {
  createLog
} from "./chunk-OVHSHDHZ.mjs";
import "./chunk-P5GSASXZ.mjs";
import {
  ReeveError
} from "./chunk-2KGDF53E.mjs";

// src/commands/serve.ts
async function serve(options, settings, terminal) {
  if (settings.forge !== void 0 && options.once)
    throw new ReeveError("usage", "--once plays the demo on the embedded forge: unset FORGE_URL");
  const stop = watchSignals();
  try {
    return await run(options, settings, { stop, terminal });
  } catch (error) {
    if (stop.explains(error)) return options.once ? 1 : 0;
    throw error;
  }
}
async function run({ once }, settings, { stop, terminal }) {
  const { forge } = settings;
  if (forge === void 0) {
    const { runDemo } = await import("./demo-IIKPSEC6.mjs");
    await runDemo({ once, stop: stop.signal }, settings, terminal);
    return 0;
  }
  const log = createLog({ level: settings.logLevel, secrets: secretValues(settings) });
  const server = await startServer({ ...settings, forge, log, signal: stop.signal });
  const signal = await stop.received;
  log.info({ signal }, "stopping");
  await server.stop();
  return 0;
}
export {
  serve
};
