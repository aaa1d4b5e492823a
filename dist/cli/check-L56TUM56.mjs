import {
  check,
  pathsOrDefault
} from "./chunk-4DXCG5MQ.mjs";
import "./chunk-HDSWMYWU.mjs";
import "./chunk-2N6KPMKU.mjs";
import "./chunk-PIDYP5MN.mjs";
import "./chunk-LTENOIKX.mjs";
import "./chunk-MMU7GUSS.mjs";
import "./chunk-QVU6XQ2A.mjs";
import "./chunk-VTTQ2TL3.mjs";
import "./chunk-PGPAQ2TF.mjs";
import "./chunk-WHXP6K3X.mjs";
import "./chunk-D4IFGYQO.mjs";
import "./chunk-OVHSHDHZ.mjs";
import "./chunk-P5GSASXZ.mjs";
import "./chunk-KZNQZHIP.mjs";
export {
  check,
  pathsOrDefault
};
