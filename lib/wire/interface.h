/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The interface files as text, generated at build time from the .varlink files beside this. */
extern const char interface_org_ftraced[];
extern const char interface_org_varlink_service[];
