-- The eight questions of ftraced-fleet(7) in DuckDB (from 1.1 on), on the files of `ftracectl export --format=parquet`:
--
--      CREATE VIEW files AS FROM read_parquet('DIR/date=*/root=*/*.parquet', hive_partitioning = false);
--      .read calls.duckdb.sql
--
-- and, where there are files of waits and of losses:
--
--      CREATE VIEW waits AS FROM waits_in('DIR/_waits/date=*/*.parquet');
--      CREATE VIEW losses AS FROM losses_in('DIR/_losses/date=*/*.parquet');
--
-- Views have the names, columns and rows of those in calls.clickhouse.sql.  Numbers are nanoseconds.
CREATE OR REPLACE VIEW calls AS
SELECT * REPLACE (coalesce(host, '') AS host, coalesce(machine_id, '') AS machine_id, coalesce(boot_id, '') AS boot_id,
        coalesce(recording, '') AS recording, coalesce(kernel, '') AS kernel, coalesce(task, '') AS task,
        coalesce(cgroup, '') AS cgroup, coalesce(caller, '') AS caller, coalesce(module, '') AS module,
        coalesce(args, '') AS args, coalesce(trace_id, '') AS trace_id)
FROM files;

CREATE OR REPLACE MACRO waits_in(paths) AS TABLE
SELECT * REPLACE (coalesce(host, '') AS host, coalesce(recording, '') AS recording, coalesce(task, '') AS task,
        coalesce(waker_task, '') AS waker_task, coalesce(waker_function, '') AS waker_function)
FROM read_parquet(paths, hive_partitioning = false);

CREATE OR REPLACE MACRO losses_in(paths) AS TABLE
SELECT * REPLACE (coalesce(host, '') AS host, coalesce(recording, '') AS recording)
FROM read_parquet(paths, hive_partitioning = false);

-- 1. Where does the time go?
CREATE OR REPLACE VIEW time_by_function AS
SELECT function, module, calls, self_sum_ns, estimated_self_ns, q[1] AS p50_ns, q[2] AS p99_ns, max_ns
FROM (
        SELECT function, module, count(*) AS calls, sum(self_ns)::BIGINT AS self_sum_ns,
                round(sum(self_ns * weight))::BIGINT AS estimated_self_ns, -- of the whole fleet, if this is a sample of it
                quantile_disc(duration_ns, [0.5, 0.99]) AS q, max(duration_ns) AS max_ns
        FROM calls GROUP BY function, module
);

-- 2. How long does a root take, on each host?
CREATE OR REPLACE VIEW roots_by_host AS
SELECT root, host, trees, duration_sum_ns, q[1] AS p50_ns, q[2] AS p90_ns, q[3] AS p99_ns, max_ns
FROM (
        SELECT root, host, count(*) AS trees, sum(duration_ns)::BIGINT AS duration_sum_ns,
                quantile_disc(duration_ns, [0.5, 0.9, 0.99]) AS q, max(duration_ns) AS max_ns
        FROM calls WHERE "left" = 1 GROUP BY root, host
);

-- 3. What is a root's tree, merged over all hosts?
CREATE OR REPLACE VIEW merged_tree AS
SELECT root, path, any_value(caller_path) AS path_of_caller, any_value(depth) AS level, any_value(function) AS name,
        count(*) AS calls, sum(duration_ns)::BIGINT AS duration_sum_ns, sum(self_ns)::BIGINT AS self_sum_ns
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
        SELECT root, quantile_disc(duration_ns, [0.25, 0.75, 0.99]) AS q
        FROM trees GROUP BY root HAVING count(*) >= 20
), cohorts AS (
        SELECT host, recording, tree, root, duration_ns >= q[3] AS is_tail
        FROM trees JOIN limits USING (root)
        WHERE duration_ns >= q[3] OR duration_ns BETWEEN q[1] AND q[2]
), counts AS (
        SELECT root, count(*) FILTER (is_tail) AS tail_trees, count(*) FILTER (NOT is_tail) AS middle_trees
        FROM cohorts GROUP BY root HAVING middle_trees > 0
), sums AS (
        SELECT c.root, path, any_value(depth) AS level, any_value(function) AS name,
                coalesce(sum(self_ns) FILTER (is_tail), 0)::BIGINT AS tail_self_ns,
                coalesce(sum(self_ns) FILTER (NOT is_tail), 0)::BIGINT AS middle_self_ns
        FROM calls c JOIN cohorts USING (host, recording, tree) GROUP BY c.root, path
)
SELECT root, path, level, name, tail_self_ns, tail_trees, middle_self_ns, middle_trees,
        tail_self_ns / tail_trees - middle_self_ns / middle_trees AS more_ns -- in a tree
FROM sums JOIN counts USING (root);

-- 6. How much time is in X below Y?  WHERE above = 'Y' AND function = 'X'; without that it is all pairs, which takes
-- for ever.  A call that is below several Ys counts once.
CREATE OR REPLACE VIEW below AS
SELECT above, function, host, count(*) AS calls, sum(duration_ns)::BIGINT AS duration_sum_ns,
        sum(self_ns)::BIGINT AS self_sum_ns
FROM (
        SELECT DISTINCT a.function AS above, b.function, host, recording, tree, b."left", b.duration_ns, b.self_ns
        FROM calls b JOIN calls a USING (host, recording, tree)
        WHERE a."right" > a."left" AND b."left" > a."left" AND b."left" <= a."right"
)
GROUP BY above, function, host;

-- 7. Who calls X?
CREATE OR REPLACE VIEW callers AS
SELECT function, caller, count(*) AS calls, sum(duration_ns)::BIGINT AS duration_sum_ns,
        sum(self_ns)::BIGINT AS self_sum_ns
FROM calls GROUP BY function, caller;

-- 8. When did a root take how long?  Tenths of a second, and powers of two.
CREATE OR REPLACE VIEW heat_map AS
SELECT root, coalesce(start_unix_ns, start_ns) // 100000000 AS tenth_s,
        CASE WHEN duration_ns > 0 THEN floor(log2(duration_ns))::TINYINT ELSE -1 END AS log2_ns, count(*) AS trees
FROM calls WHERE "left" = 1 GROUP BY ALL;
