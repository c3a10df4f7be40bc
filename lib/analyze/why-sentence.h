/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Why, in words
 *
 * Names are as the recording has them, which is text without control characters (calls/function.h); a task's name is
 * escaped.
 */

#include "analyze/why.h"
#include "base/buf.h"

/* "udp_recvmsg: the slowest 1 % take 22.8 ms instead of 1.2 ms; 94 % of that is waiting in schedule below
 * __skb_wait_for_more_packets, woken by client-347 in udp_queue_rcv_one_skb.": one sentence, with its full
 * stop.  If nothing stands out it says so. */
void why_sentence(Buf *out, const Why *w);
/* "waiting in schedule below __skb_wait_for_more_packets, woken by client-347 in udp_queue_rcv_one_skb" */
void why_describe_cause(Buf *out, const Why *w, const WhyCause *c);
/* "CPU 3", "task client" */
void why_describe_factor(Buf *out, const WhyFactor *f);
/* "len > 1400", "ret = -11 (EAGAIN) in ip_make_skb below udp_sendmsg" */
void why_describe_value(Buf *out, const WhyValue *v);
/* "97 % of them have len > 1400, 0.8 % of the usual ones" */
void why_describe_parts(Buf *out, const Why *w, const WhyValue *v);
/* "the usual ones", "the earlier ones" */
const char *why_others(const Why *w);
/* "client-347 in udp_queue_rcv_one_skb", "an interrupt in ..." */
void why_describe_waker(Buf *out, const Waker *w);
