-- The eight questions of ftraced-fleet(7) in DuckDB (from 1.1 on) and ClickHouse (of 26.7), of `files`, which
-- has what `ftracectl export --format=parquet` writes.
--
-- Numbers are nanoseconds.  Quantiles are exact, of the nearest rank: quantile_disc, which ClickHouse is told first:
--
--      CREATE FUNCTION quantile_disc AS (x, p) -> quantileExactWeighted(p)(x, 1);
CREATE OR REPLACE VIEW calls AS
SELECT * REPLACE (coalesce(host, '') AS host, coalesce(machine_id, '') AS machine_id, coalesce(boot_id, '') AS boot_id,
        coalesce(recording, '') AS recording, coalesce(kernel, '') AS kernel, coalesce(task, '') AS task,
        coalesce("user", '') AS "user", coalesce(unit, '') AS unit, coalesce(container, '') AS container,
        coalesce(pod, '') AS pod, coalesce(cgroup, '') AS cgroup, coalesce(caller, '') AS caller, coalesce(module, '') AS module,
        coalesce(args, '') AS args, coalesce(what, '') AS what, coalesce(callers, '') AS callers, coalesce(stack, '') AS stack,
        coalesce(trace_id, '') AS trace_id)
FROM files;

-- 1. Where does the time go?
CREATE OR REPLACE VIEW time_by_function AS
SELECT function, module, count(*) AS calls, CAST(sum(self_ns) AS BIGINT) AS self_sum_ns,
        CAST(round(sum(self_ns * weight)) AS BIGINT) AS estimated_self_ns, -- of the whole fleet, if this is a sample of it
        quantile_disc(duration_ns, 0.5) AS p50_ns, quantile_disc(duration_ns, 0.99) AS p99_ns,
        max(duration_ns) AS max_ns
FROM calls GROUP BY function, module;

-- 2. How long does a root take, on each host?
CREATE OR REPLACE VIEW roots_by_host AS
SELECT root, host, count(*) AS trees, CAST(sum(duration_ns) AS BIGINT) AS duration_sum_ns,
        quantile_disc(duration_ns, 0.5) AS p50_ns, quantile_disc(duration_ns, 0.9) AS p90_ns,
        quantile_disc(duration_ns, 0.99) AS p99_ns, max(duration_ns) AS max_ns
FROM calls WHERE "left" = 1 GROUP BY root, host;

-- 3. What is a root's tree, merged over all hosts?
CREATE OR REPLACE VIEW merged_tree AS
SELECT root, path, any_value(caller_path) AS path_of_caller, any_value(depth) AS level, any_value(function) AS name,
        count(*) AS calls, CAST(sum(duration_ns) AS BIGINT) AS duration_sum_ns,
        CAST(sum(self_ns) AS BIGINT) AS self_sum_ns
FROM calls GROUP BY root, path;

-- 4. Which trees took longest?
CREATE OR REPLACE VIEW slowest_trees AS
SELECT duration_ns, root, host, recording, tree, start_unix_ns, cpu, pid, task, blocked_ns, irq_ns
FROM calls WHERE "left" = 1 ORDER BY duration_ns DESC, host, recording, tree LIMIT 20;

-- 5. On which path do slow trees of a root (from its p99 on) take more than the middle half?  Roots with at least
-- 20 trees.
CREATE OR REPLACE VIEW tail_by_path AS
WITH trees AS (
        SELECT host, recording, tree, root, duration_ns FROM calls WHERE "left" = 1
), limits AS (
        SELECT root, quantile_disc(duration_ns, 0.25) AS p25, quantile_disc(duration_ns, 0.75) AS p75,
                quantile_disc(duration_ns, 0.99) AS p99
        FROM trees GROUP BY root HAVING count(*) >= 20
), cohorts AS (
        SELECT host, recording, tree, root, duration_ns >= p99 AS is_tail
        FROM trees JOIN limits USING (root)
        WHERE duration_ns >= p99 OR duration_ns BETWEEN p25 AND p75
), counts AS (
        SELECT root, count(*) FILTER (WHERE is_tail) AS tail_trees, count(*) FILTER (WHERE NOT is_tail) AS middle_trees
        FROM cohorts GROUP BY root
), sums AS (
        SELECT calls.root AS root, path, any_value(depth) AS level, any_value(function) AS name,
                CAST(sum(CASE WHEN is_tail THEN self_ns ELSE 0 END) AS BIGINT) AS tail_self_ns,
                CAST(sum(CASE WHEN is_tail THEN 0 ELSE self_ns END) AS BIGINT) AS middle_self_ns
        FROM calls JOIN cohorts USING (host, recording, tree) GROUP BY calls.root, path
)
SELECT root, path, level, name, tail_self_ns, tail_trees, middle_self_ns, middle_trees,
        tail_self_ns / tail_trees - middle_self_ns / middle_trees AS more_ns -- in a tree
FROM sums JOIN counts USING (root) WHERE middle_trees > 0;

-- 6. How much time is in X below Y?  WHERE above = 'Y' AND function = 'X'; without that it is all pairs, which takes
-- for ever.  A call that is below several Ys counts once.
CREATE OR REPLACE VIEW below AS
SELECT above, function, host, count(*) AS calls, CAST(sum(duration_ns) AS BIGINT) AS duration_sum_ns,
        CAST(sum(self_ns) AS BIGINT) AS self_sum_ns
FROM (
        SELECT DISTINCT a.function AS above, b.function AS function, host, recording, tree, b."left" AS "left",
                b.duration_ns AS duration_ns, b.self_ns AS self_ns
        FROM calls b JOIN calls a USING (host, recording, tree)
        WHERE a."right" > a."left" AND b."left" > a."left" AND b."left" <= a."right"
) AS pairs
GROUP BY above, function, host;

-- 7. Who calls X?
CREATE OR REPLACE VIEW callers AS
SELECT function, caller, count(*) AS calls, CAST(sum(duration_ns) AS BIGINT) AS duration_sum_ns,
        CAST(sum(self_ns) AS BIGINT) AS self_sum_ns
FROM calls GROUP BY function, caller;

-- 8. When did a root take how long?  Tenths of a second, and powers of two.
CREATE OR REPLACE VIEW heat_map AS
SELECT root, CAST(round((at_ns - at_ns % 100000000) / 100000000) AS BIGINT) AS tenth_s,
        CASE WHEN duration_ns > 0 THEN CAST(floor(log2(duration_ns)) AS TINYINT) ELSE -1 END AS log2_ns, count(*) AS trees
FROM (SELECT root, coalesce(start_unix_ns, start_ns) AS at_ns, duration_ns FROM calls WHERE "left" = 1) AS trees
GROUP BY root, tenth_s, log2_ns;
