"""URLs of the shop: all of django-oscar, and the static files of the installed packages."""

from django.apps import apps
from django.urls import include, path, re_path

from jitrl.envs.shop.pages import enter, static

urlpatterns = [
    re_path(r"^static/(?P<path>.*)$", static),
    path("enter/<str:who>/", enter),
    path("i18n/", include("django.conf.urls.i18n")),
    path("", include(apps.get_app_config("oscar").urls[0])),
]
