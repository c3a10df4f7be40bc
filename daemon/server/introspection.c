/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The interface that every Varlink service has: who it is, and the texts of its interfaces. */

#include "base/name.h"
#include "daemon/server/server-private.h"
#include "wire/interface.h"

#define SERVICE "org.varlink.service"

static const struct {
        const char *name, *text;
} descriptions[] = {
        { SERVICE, interface_org_varlink_service },
        { "org.ftraced", interface_org_ftraced },
};

size_t introspection_interface_length(const char *method) {
        const char *dot = strrchr(method, '.');

        return dot ? (size_t) (dot - method) : 0;
}

bool introspection_same_interface(const char *method, const char *other) {
        size_t n = introspection_interface_length(method);

        return n == introspection_interface_length(other) && memcmp(method, other, n) == 0;
}

static int method_get_info(ServerCall *call, json_t *parameters, Refusal *refusal, void *userdata) {
        json_t *interfaces = json_pack("[s]", SERVICE);
        const Server *s = userdata;

        for (size_t i = 0; i < s->n_methods; i++)
                if (i == 0 ||
                    !introspection_same_interface(s->methods[i].name, s->methods[i - 1].name))
                        (void) json_array_append_new(
                                interfaces,
                                json_stringn(s->methods[i].name,
                                             introspection_interface_length(s->methods[i].name)));
        return server_call_reply(call,
                                 json_pack("{s:s, s:s, s:s, s:s, s:o}", "vendor", PACKAGE_NAME,
                                           "product", PACKAGE_NAME, "version", PACKAGE_VERSION,
                                           "url", PACKAGE_URL, "interfaces", interfaces),
                                 NULL, 0);
}

static int method_get_description(ServerCall *call, json_t *parameters, Refusal *refusal,
                                  void *userdata) {
        const char *name = json_string_value(json_object_get(parameters, "interface"));
        char quoted[NAME_QUOTE_MAX];

        if (!name)
                return refusal_set_of(refusal, REFUSAL_INVALID_PARAMETER, "parameter", "interface",
                                      "\"interface\" must be the name of an interface");
        for (size_t i = 0; i < ELEMENTSOF(descriptions); i++)
                if (streq(name, descriptions[i].name))
                        return server_call_reply(
                                call, json_pack("{s:s}", "description", descriptions[i].text), NULL,
                                0);
        return refusal_set_of(refusal, REFUSAL_INTERFACE_NOT_FOUND, "interface", name,
                              "there is no interface %s", name_quote(quoted, name));
}

const ServerMethod introspection_methods[] = {
        { SERVICE ".GetInfo", method_get_info, (const char *const[]){ NULL }, false },
        { SERVICE ".GetInterfaceDescription", method_get_description,
          (const char *const[]){ "interface", NULL }, false },
};
const size_t introspection_n_methods = ELEMENTSOF(introspection_methods);
