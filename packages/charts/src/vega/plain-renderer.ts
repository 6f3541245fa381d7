/** Charts in a page, as SVG. */
import { type Drawn, renderModule, SVGHandler, SVGRenderer } from 'vega-scenegraph';

/** What is no colour is left out: `url(…)` would load a picture whose address can hold the viewer's rows. */
const isPaint = (value: unknown) =>
  value === null || value === undefined || typeof value === 'object' || CSS.supports('color', String(value));

class PlainRenderer extends SVGRenderer {
  override style(element: Element, item: Drawn | null) {
    if (!item || (isPaint(item.fill) && isPaint(item.stroke))) return super.style(element, item);
    const { fill, stroke } = item;
    super.style(element, {
      ...item,
      fill: isPaint(fill) ? fill : null,
      stroke: isPaint(stroke) ? stroke : null,
    });
  }
}
renderModule('svg', { renderer: PlainRenderer, handler: SVGHandler });
