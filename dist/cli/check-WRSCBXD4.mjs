import {
  check,
  pathsOrDefault
} from "./chunk-LYARRGDL.mjs";
import "./chunk-YBAOU5XP.mjs";
import "./chunk-2N6KPMKU.mjs";
import "./chunk-PIDYP5MN.mjs";
import "./chunk-LTENOIKX.mjs";
import "./chunk-LGOA7GGY.mjs";
import "./chunk-GYGT5H5E.mjs";
import "./chunk-IFKD7BAJ.mjs";
import "./chunk-6MXTY6BW.mjs";
import "./chunk-DXQTXMKO.mjs";
import "./chunk-CLEI7EDK.mjs";
import "./chunk-OVHSHDHZ.mjs";
import "./chunk-P5GSASXZ.mjs";
import "./chunk-2KGDF53E.mjs";
export {
  check,
  pathsOrDefault
};
