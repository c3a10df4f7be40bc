-- The calls of a fleet in ClickHouse, from 18.16 (Debian 12) on: a table of them, of their waits, and of losses, and
-- a view for each of the eight questions of ftraced-fleet(7).
--
--      clickhouse-client --multiquery < calls.clickhouse.sql         on every server, in any database
--      clickhouse-client --allow_experimental_low_cardinality_type=1 --multiquery < ...      for 18.16
--
-- "ftraced" is a cluster of the configuration (remote_servers), also if it has only one server.  A host is on one
-- shard, so a tree never crosses shards.  Rows are those of `ftracectl export --format=tsv`, tsv-waits and tsv-losses,
-- or parquet where the engine reads that: a text that is none is empty.  Numbers are nanoseconds.  Quantiles are exact, of the nearest rank.
--
-- What is asked of `below` must reach the tables before they are joined, which 18.16 does not do by itself:
-- SET enable_optimize_predicate_expression = 1, or in the profile.

CREATE TABLE IF NOT EXISTS calls_local (
        host LowCardinality(String),
        machine_id LowCardinality(String),
        boot_id LowCardinality(String),
        recording LowCardinality(String),
        kernel LowCardinality(String),
        tree UInt64,
        "left" UInt32,
        "right" UInt32,
        parent Nullable(UInt32),
        depth UInt16,
        path Int64,
        caller_path Nullable(Int64),
        start_unix_ns Nullable(Int64),
        start_ns Int64,
        duration_ns Int64,
        self_ns Int64,
        blocked_ns Int64,
        irq_ns Int64,
        cpu Nullable(UInt32),
        pid Nullable(Int32),
        task LowCardinality(String),
        cgroup LowCardinality(String),
        function LowCardinality(String),
        caller LowCardinality(String),
        module LowCardinality(String),
        root LowCardinality(String),
        cut UInt8,
        retval Nullable(Int64),
        args String,
        trace_id String,
        weight Float64,
        not_hooked_below Nullable(UInt32)
) ENGINE = MergeTree
PARTITION BY toDate(intDiv(coalesce(start_unix_ns, 0), 86400000000000)) -- the day, in UTC
ORDER BY (host, recording, tree, "left");

CREATE TABLE IF NOT EXISTS calls AS calls_local
ENGINE = Distributed(ftraced, currentDatabase(), calls_local, cityHash64(host));

-- When calls were off their CPU; tree and left are those of the call.
CREATE TABLE IF NOT EXISTS waits_local (
        host LowCardinality(String),
        recording LowCardinality(String),
        tree UInt64,
        "left" UInt32,
        start_unix_ns Nullable(Int64),
        start_ns Int64,
        woken_ns Nullable(Int64),
        back_ns Int64,
        state LowCardinality(String),
        cpu UInt32,
        pid Nullable(Int32),
        task LowCardinality(String),
        function LowCardinality(String),
        waker_task LowCardinality(String),
        waker_pid Nullable(Int32),
        waker_function LowCardinality(String),
        waker_interrupt UInt8
) ENGINE = MergeTree
PARTITION BY toDate(intDiv(coalesce(start_unix_ns, 0), 86400000000000))
ORDER BY (host, recording, tree, "left", start_ns);

CREATE TABLE IF NOT EXISTS waits AS waits_local
ENGINE = Distributed(ftraced, currentDatabase(), waits_local, cityHash64(host));

-- Where events of a CPU are missing; events: how many, if the kernel has said so.
CREATE TABLE IF NOT EXISTS losses_local (
        host LowCardinality(String),
        recording LowCardinality(String),
        at_unix_ns Nullable(Int64),
        at_ns Int64,
        cpu UInt32,
        events Nullable(UInt64)
) ENGINE = MergeTree
PARTITION BY toDate(intDiv(coalesce(at_unix_ns, 0), 86400000000000))
ORDER BY (host, recording, at_ns);

CREATE TABLE IF NOT EXISTS losses AS losses_local
ENGINE = Distributed(ftraced, currentDatabase(), losses_local, cityHash64(host));

-- 1. Where does the time go?
CREATE VIEW IF NOT EXISTS time_by_function AS
SELECT function, module, count() AS calls, sum(self_ns) AS self_sum_ns,
        toInt64(round(sum(self_ns * weight))) AS estimated_self_ns, -- of the whole fleet, if this is a sample of it
        quantilesExactWeighted(0.5, 0.99)(duration_ns, 1)[1] AS p50_ns,
        quantilesExactWeighted(0.5, 0.99)(duration_ns, 1)[2] AS p99_ns,
        max(duration_ns) AS max_ns
FROM calls GROUP BY function, module;

-- 2. How long does a root take, on each host?
CREATE VIEW IF NOT EXISTS roots_by_host AS
SELECT root, host, count() AS trees, sum(duration_ns) AS duration_sum_ns,
        quantilesExactWeighted(0.5, 0.9, 0.99)(duration_ns, 1)[1] AS p50_ns,
        quantilesExactWeighted(0.5, 0.9, 0.99)(duration_ns, 1)[2] AS p90_ns,
        quantilesExactWeighted(0.5, 0.9, 0.99)(duration_ns, 1)[3] AS p99_ns,
        max(duration_ns) AS max_ns
FROM calls WHERE "left" = 1 GROUP BY root, host;

-- 3. What is a root's tree, merged over all hosts?
CREATE VIEW IF NOT EXISTS merged_tree AS
SELECT root, path, any(caller_path) AS path_of_caller, any(depth) AS level, any(function) AS name,
        count() AS calls, sum(duration_ns) AS duration_sum_ns, sum(self_ns) AS self_sum_ns
FROM calls GROUP BY root, path;

-- 4. Which trees took longest?
CREATE VIEW IF NOT EXISTS slowest_trees AS
SELECT duration_ns, root, host, recording, tree, start_unix_ns, cpu, pid, task, blocked_ns, irq_ns
FROM calls WHERE "left" = 1 ORDER BY duration_ns DESC, host, recording, tree LIMIT 20;

-- 5. On which path do slow trees of a root (from its p99 on) take more than the middle half?  Roots with at least
-- 20 trees.
CREATE VIEW IF NOT EXISTS tail_by_path AS
SELECT root, path, any(depth) AS level, any(function) AS name,
        sumIf(self_ns, is_tail) AS tail_self_ns, any(n_tail) AS tail_trees,
        sumIf(self_ns, NOT is_tail) AS middle_self_ns, any(n_middle) AS middle_trees,
        tail_self_ns / tail_trees - middle_self_ns / middle_trees AS more_ns -- in a tree
FROM calls GLOBAL ALL INNER JOIN (
        SELECT host, recording, tree, duration_ns >= p99 AS is_tail, n_tail, n_middle
        FROM calls GLOBAL ALL INNER JOIN (
                SELECT root, arraySort(groupArray(duration_ns)) AS d,
                        d[toUInt32(ceil(length(d) * 0.25))] AS p25,
                        d[toUInt32(ceil(length(d) * 0.75))] AS p75,
                        d[toUInt32(ceil(length(d) * 0.99))] AS p99,
                        arrayCount(x -> x >= p99, d) AS n_tail,
                        arrayCount(x -> x >= p25 AND x <= p75 AND x < p99, d) AS n_middle
                FROM calls WHERE "left" = 1 GROUP BY root HAVING count() >= 20 AND n_middle > 0
        ) AS limits USING (root)
        WHERE "left" = 1 AND (duration_ns >= p99 OR duration_ns >= p25 AND duration_ns <= p75)
) AS cohorts USING (host, recording, tree)
GROUP BY root, path;

-- 6. How much time is in X below Y?  WHERE above = 'Y' AND function = 'X'; without that it is all pairs, which takes
-- for ever.  A call that is below several Ys counts once.  Every shard joins its own trees.
CREATE VIEW IF NOT EXISTS below_local AS
SELECT above, function, host, count() AS calls, sum(duration) AS duration_sum_ns, sum(self) AS self_sum_ns
FROM (
        SELECT DISTINCT above, function, host, recording, tree, "left",
                duration_ns AS duration, self_ns AS self
        FROM (SELECT host, recording, tree, "left", duration_ns, self_ns, function FROM calls_local) AS b
        ALL INNER JOIN (
                SELECT host, recording, tree, "left" AS first, "right" AS last, function AS above
                FROM calls_local WHERE "right" > "left"
        ) AS a USING (host, recording, tree)
        WHERE "left" > first AND "left" <= last
)
GROUP BY above, function, host;

CREATE TABLE IF NOT EXISTS below AS below_local ENGINE = Distributed(ftraced, currentDatabase(), below_local);

-- 7. Who calls X?
CREATE VIEW IF NOT EXISTS callers AS
SELECT function, caller, count() AS calls, sum(duration_ns) AS duration_sum_ns, sum(self_ns) AS self_sum_ns
FROM calls GROUP BY function, caller;

-- 8. When did a root take how long?  Tenths of a second, and powers of two.
CREATE VIEW IF NOT EXISTS heat_map AS
SELECT root, intDiv(coalesce(start_unix_ns, start_ns), 100000000) AS tenth_s,
        if(duration_ns > 0, toInt8(floor(log2(duration_ns))), -1) AS log2_ns, count() AS trees
FROM calls WHERE "left" = 1 GROUP BY root, tenth_s, log2_ns;
