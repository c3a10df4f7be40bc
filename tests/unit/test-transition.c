/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/session/transition.h"
#include "tests/unit/unit.h"

START_TEST(a_session_that_goes_well_passes_every_state_in_order)
        {
                static const SessionEvent events[] = { SESSION_EVENT_ARM, SESSION_EVENT_START,
                                                       SESSION_EVENT_STOP, SESSION_EVENT_DRAIN };
                static const SessionState states[] = { SESSION_ARMED, SESSION_RECORDING,
                                                       SESSION_DRAINING, SESSION_SEALED };
                int state = SESSION_NEW;

                for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
                        state = transition_next((SessionState) state, events[i]);
                        ck_assert_int_eq(state, (int) states[i]);
                }
        }
END_TEST

START_TEST(every_state_that_is_not_an_end_can_fail)
        {
                for (int s = 0; s < _SESSION_STATE_N; s++) {
                        bool is_end = s == SESSION_SEALED || s == SESSION_FAILED ||
                                      s == SESSION_INTERRUPTED;

                        ck_assert_int_eq(transition_next((SessionState) s, SESSION_EVENT_FAIL),
                                         is_end ? -EINVAL : SESSION_FAILED);
                }
        }
END_TEST

START_TEST(nothing_happens_to_a_session_that_has_ended)
        {
                for (int e = 0; e < _SESSION_EVENT_N; e++) {
                        ck_assert_int_eq(transition_next(SESSION_SEALED, (SessionEvent) e),
                                         -EINVAL);
                        ck_assert_int_eq(transition_next(SESSION_FAILED, (SessionEvent) e),
                                         -EINVAL);
                }
        }
END_TEST

START_TEST(a_session_cannot_be_sealed_before_it_was_drained)
        {
                ck_assert_int_eq(transition_next(SESSION_RECORDING, SESSION_EVENT_DRAIN), -EINVAL);
                ck_assert_int_eq(transition_next(SESSION_ARMED, SESSION_EVENT_DRAIN), -EINVAL);
        }
END_TEST

START_TEST(numbers_that_are_no_state_or_event_are_refused)
        {
                ck_assert_int_eq(transition_next(_SESSION_STATE_N, SESSION_EVENT_ARM), -EINVAL);
                ck_assert_int_eq(transition_next(SESSION_NEW, _SESSION_EVENT_N), -EINVAL);
        }
END_TEST

START_TEST(only_what_records_can_wait_again)
        {
                ck_assert_int_eq(transition_next(SESSION_RECORDING, SESSION_EVENT_PAUSE),
                                 SESSION_ARMED);
                ck_assert_int_eq(transition_next(SESSION_ARMED, SESSION_EVENT_PAUSE), -EINVAL);
                ck_assert_int_eq(transition_next(SESSION_DRAINING, SESSION_EVENT_PAUSE), -EINVAL);
        }
END_TEST

START_TEST(nothing_happens_but_what_the_picture_in_the_header_has)
        {
                static const int picture[_SESSION_STATE_N][_SESSION_EVENT_N] = {
                        [SESSION_NEW][SESSION_EVENT_ARM] = SESSION_ARMED,
                        [SESSION_NEW][SESSION_EVENT_FAIL] = SESSION_FAILED,
                        [SESSION_ARMED][SESSION_EVENT_START] = SESSION_RECORDING,
                        [SESSION_ARMED][SESSION_EVENT_STOP] = SESSION_DRAINING,
                        [SESSION_ARMED][SESSION_EVENT_FAIL] = SESSION_FAILED,
                        [SESSION_RECORDING][SESSION_EVENT_PAUSE] = SESSION_ARMED,
                        [SESSION_RECORDING][SESSION_EVENT_STOP] = SESSION_DRAINING,
                        [SESSION_RECORDING][SESSION_EVENT_FAIL] = SESSION_FAILED,
                        [SESSION_DRAINING][SESSION_EVENT_DRAIN] = SESSION_SEALED,
                        [SESSION_DRAINING][SESSION_EVENT_FAIL] = SESSION_FAILED,
                };
                unsigned n = 0;

                for (int s = 0; s < _SESSION_STATE_N; s++)
                        for (int e = 0; e < _SESSION_EVENT_N; e++) {
                                int to = transition_next((SessionState) s, (SessionEvent) e);

                                ck_assert_int_eq(to, picture[s][e] ?: -EINVAL);
                                n += to >= 0;
                        }
                ck_assert_uint_eq(n, 10);
        }
END_TEST

START_TEST(from_every_state_that_is_live_the_end_can_be_reached)
        {
                for (int s = 0; s < _SESSION_STATE_N; s++) {
                        int at = s;

                        if (!session_state_is_live((SessionState) s))
                                continue;
                        for (unsigned steps = 0; at != SESSION_SEALED; steps++) {
                                int stopped =
                                        transition_next((SessionState) at, SESSION_EVENT_STOP);

                                ck_assert_uint_lt(steps, 2);
                                at = stopped >= 0 ? stopped
                                                  : transition_next((SessionState) at,
                                                                    SESSION_EVENT_DRAIN);
                                ck_assert_int_ge(at, 0);
                        }
                }
        }
END_TEST

UNIT_SUITE("transition", nothing_happens_but_what_the_picture_in_the_header_has,
           from_every_state_that_is_live_the_end_can_be_reached, only_what_records_can_wait_again,
           a_session_that_goes_well_passes_every_state_in_order,
           every_state_that_is_not_an_end_can_fail, nothing_happens_to_a_session_that_has_ended,
           a_session_cannot_be_sealed_before_it_was_drained,
           numbers_that_are_no_state_or_event_are_refused)
