/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "daemon/transition.h"
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

UNIT_MAIN("transition", only_what_records_can_wait_again,
          a_session_that_goes_well_passes_every_state_in_order,
          every_state_that_is_not_an_end_can_fail, nothing_happens_to_a_session_that_has_ended,
          a_session_cannot_be_sealed_before_it_was_drained,
          numbers_that_are_no_state_or_event_are_refused)
