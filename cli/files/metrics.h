/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/*
 * Metrics: what a daemon's GetStatus says, for Prometheus and whoever reads its texts
 *
 * Names and units as https://prometheus.io/docs/practices/naming has them.  Sessions that are alive
 * have series of their own; those that have ended are counted.
 */

#include <jansson.h>

#include "base/buf.h"

typedef enum MetricsFormat {
        METRICS_OPENMETRICS, /* OpenMetrics 1.0 */
        METRICS_PROMETHEUS, /* the text format 0.0.4, which node_exporter's textfile collector reads */
} MetricsFormat;

/*
 * metrics_write()
 * @status: the reply of GetStatus
 *
 * Return: 0; METRICS_E_INVALID: a session is described in a way that is not valid; -errno.
 */
enum { METRICS_E_INVALID = 1 };
int metrics_write(Buf *out, const json_t *status, MetricsFormat format);
/* The same families as `metrics` of cli/tables.schema.json; the caller owns *@ret. */
int metrics_to_json(json_t **ret, const json_t *status);
