import type { Module } from '../../platform/module.ts';
import type { PublishedDashboards } from '../dashboards/index.ts';
import type { Renderings } from './renderings.ts';
import { renderingRoutes } from './routes.ts';

export { type ComposedMail, composeDashboardMail, type DashboardMail } from './dashboard-mail.ts';
export { type Choices, type Layout, layOut } from './layout.ts';
export {
  createRenderings,
  type Drawing,
  DrawingLostError,
  type HeadlineFigure,
  type PictureFormat,
  type Reader,
  type Rendering,
  type Renderings,
  type RenderRequest,
  type SmallTable,
} from './renderings.ts';

export const renderings = (drawing: Renderings, dashboards: PublishedDashboards): Module => ({
  routes: renderingRoutes(drawing, dashboards),
  stop: drawing.stop,
});
