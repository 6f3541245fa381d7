/** The parts of Vega that dashboards use. Expressions are interpreted, because no text may become code here. */
import { transforms } from 'vega-dataflow';
import * as encode from 'vega-encode';
import { expressionInterpreter } from 'vega-interpreter';
import { parse } from 'vega-parser';
import * as data from 'vega-transforms';
import { View } from 'vega-view';
import * as view from 'vega-view-transforms';

Object.assign(transforms, data, view, encode);

export { expressionInterpreter, parse, View };
