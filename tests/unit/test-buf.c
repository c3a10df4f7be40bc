/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <fcntl.h>
#include <sys/mman.h>

#include "base/buf.h"
#include "base/io.h"
#include "unit.h"

START_TEST(text_gathers_in_order)
        {
                _cleanup_buf_ Buf b = BUF_INIT;
                _cleanup_free_ char *s = NULL;

                buf_adds(&b, "a");
                buf_printf(&b, "%d-%s", 17, "x");
                buf_pad(&b, 3, ' ');
                buf_add(&b, "end", 3);
                ck_assert_int_eq(buf_take_string(&b, &s), 0);
                ck_assert_str_eq(s, "a17-x   end");
                ck_assert_uint_eq(b.n_data, 0);
        }
END_TEST

START_TEST(a_descriptor_gets_everything_once)
        {
                _cleanup_close_ int fd = memfd_create("buf", MFD_CLOEXEC);
                _cleanup_buf_ Buf b = BUF_TO_FD(fd);
                _cleanup_free_ char *s = NULL;
                size_t n, n_lines = 200000;

                for (size_t i = 0; i < n_lines; i++)
                        buf_printf(&b, "%07zu\n", i);
                ck_assert_int_eq(buf_flush(&b), 0);
                ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
                ck_assert_int_eq(fd_read(fd, &s, &n, SIZE_MAX), 0);
                ck_assert_uint_eq(n, n_lines * 8);
                ck_assert_int_eq(strncmp(s + 8 * 123456, "0123456\n", 8), 0);
        }
END_TEST

START_TEST(the_first_error_sticks)
        {
                _cleanup_close_ int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
                _cleanup_buf_ Buf b = BUF_TO_FD(fd);

                buf_adds(&b, "x");
                ck_assert_int_eq(buf_flush(&b), -ENOSPC);
                buf_adds(&b, "y");
                buf_printf(&b, "z");
                buf_pad(&b, 2, ' ');
                ck_assert_int_eq(b.error, -ENOSPC);
                ck_assert_int_eq(buf_flush(&b), -ENOSPC);
        }
END_TEST

UNIT_SUITE("buf", text_gathers_in_order, a_descriptor_gets_everything_once, the_first_error_sticks)
