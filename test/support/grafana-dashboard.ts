import type * as Grafana from '@grafana/schema';
import type { Options as StatOptions } from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type { Options as TimeSeriesOptions } from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

/** A type as it is in JSON: members of enumerations are their texts. */
type Plain<T> = T extends string ? `${T}` : T extends object ? { [Key in keyof T]: Plain<T[Key]> } : T;

/** Data source that the viewer selected above the dashboard. */
type ChosenSource = { readonly type: 'prometheus'; readonly uid: '${datasource}' };

/** Query of a panel, either over the time range or for the latest value. */
export type PrometheusTarget = {
  readonly refId: string;
  readonly datasource: ChosenSource;
  readonly expr: string;
  readonly legendFormat: string;
  readonly range: boolean;
  readonly instant?: true;
};

type PanelOf<Type extends string, Options, Custom> = Omit<
  Grafana.Panel,
  'type' | 'options' | 'fieldConfig' | 'targets' | 'datasource'
> & {
  readonly id: number;
  readonly type: Type;
  readonly title: string;
  readonly description: string;
  readonly datasource: ChosenSource;
  readonly gridPos: Grafana.Panel['gridPos'] & object;
  readonly options: Options;
  readonly fieldConfig: {
    readonly defaults: Omit<Grafana.FieldConfig, 'custom'> & Custom;
    readonly overrides: readonly [];
  };
  readonly targets: readonly PrometheusTarget[];
};

type QueryPanel =
  | PanelOf<'timeseries', TimeSeriesOptions, { readonly custom: Grafana.GraphFieldConfig }>
  | PanelOf<'stat', StatOptions, object>;

/**
 * JSON of a dashboard with the kinds of panels that `deploy/grafana` uses, based on the types that Grafana publishes.
 */
export type GrafanaDashboard = Plain<
  Omit<Grafana.Dashboard, 'panels' | 'templating'> & {
    readonly uid: string;
    readonly title: string;
    readonly panels: readonly (QueryPanel | (Grafana.RowPanel & { readonly gridPos: object }))[];
    readonly templating: { readonly list: readonly Grafana.VariableModel[] };
  }
>;
